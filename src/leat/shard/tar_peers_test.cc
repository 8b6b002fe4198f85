// The scanner against archives made by other people's tars.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "leat/base/hash.h"
#include "leat/shard/tar_scanner.h"
#include "leat/shard/testing/scratch_directory.h"
#include "leat/shard/testing/tar_fixture.h"

namespace leat {
namespace {

using testing::bytes_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Scan;
using testing::scan;
using testing::ScannedMember;
using testing::ScratchDirectory;

using Files = std::map<std::string, std::string>;

// Names that every format holds, and one that ustar must split.
Files plain_files() {
  return {{"a.txt", "alpha"},
          {"empty", ""},
          {"block", std::string(512, 'b')},
          {"large", std::string(20'000, 'l')},
          {"folder/with space.jpg", "space"},
          {"folder/unicode-\xc3\xa4\xe2\x82\xac.jpg", "umlaut"}};
}

Files with_long_names() {
  Files files = plain_files();
  const std::string component(90, 'c');
  files["split/" + component + "/" + std::string(50, 'n')] = "split";
  files["deep/" + component + "/" + component + "/" + component + "/" + component] = "deep";
  files["wide/" + std::string(200, 'w')] = "wide";
  return files;
}

void expect_files(const Scan& found, const Files& files) {
  ASSERT_TRUE(found.summary.ok()) << found.summary.error().message();
  EXPECT_EQ(found.summary->members, files.size());
  Files seen;
  for (const ScannedMember& member : found.members) {
    seen[member.name] = member.data;
    EXPECT_EQ(member.size_bytes, member.data.size());
    EXPECT_EQ(member.crc32c, crc32c(0, bytes_of(member.data)));
  }
  EXPECT_EQ(seen, files);
}

// Members say where they lie: the bytes there are theirs.
void expect_addressable(const std::string& stream, const Scan& found) {
  for (const ScannedMember& member : found.members) {
    EXPECT_EQ(stream.substr(member.data_offset, member.size_bytes), member.data) << member.name;
  }
}

class TarPeers : public ::testing::Test {
 protected:
  void write(const Files& files) {
    for (const auto& [name, bytes] : files) scratch_.write("tree/" + name, bytes);
  }
  std::string archive(const std::string& options) {
    const auto made = scratch_.run("tar " + options + " -cf out.tar -C tree .");
    EXPECT_EQ(made.exit_code, 0) << made.output;
    return scratch_.read("out.tar");
  }
  void python(const std::string& program) {
    scratch_.write("make.py", program);
    const auto made = scratch_.run("python3 make.py");
    EXPECT_EQ(made.exit_code, 0) << made.output;
  }

  ScratchDirectory scratch_;
};

TEST_F(TarPeers, GnuTarInEveryFormat) {
  write(plain_files());
  for (const std::string format : {"v7", "oldgnu", "gnu", "ustar", "posix"}) {
    SCOPED_TRACE(format);
    const std::string stream = archive("--format=" + format);
    const Scan found = scan(stream);
    expect_files(found, plain_files());
    expect_addressable(stream, found);
    EXPECT_EQ(found.summary->directories, 2u);
    EXPECT_TRUE(found.summary->has_end);
    EXPECT_TRUE(scan(stream, std::array<std::size_t, 2>{701, 3}).same_as(found));
  }
}

TEST_F(TarPeers, GnuTarWithLongNames) {
  write(with_long_names());
  for (const std::string format : {"oldgnu", "gnu", "posix"}) {
    SCOPED_TRACE(format);
    const std::string stream = archive("--format=" + format);
    const Scan found = scan(stream);
    expect_files(found, with_long_names());
    expect_addressable(stream, found);
  }
}

TEST_F(TarPeers, UstarSplitsNamesAsGnuTarDoes) {
  const std::string name = std::string(90, 'p') + "/" + std::string(90, 'n');
  write({{name, "split"}});
  expect_files(scan(archive("--format=ustar")), {{name, "split"}});
}

TEST_F(TarPeers, LinksAreNotMembers) {
  write({{"file", "bytes"}});
  ASSERT_EQ(
      scratch_.run("ln tree/file tree/hard; ln -s file tree/soft; mkfifo tree/pipe").exit_code, 0);
  for (const std::string format : {"gnu", "posix", "ustar"}) {
    const Scan found = scan(archive("--sort=name --format=" + format));
    ASSERT_TRUE(found.summary.ok()) << found.summary.error().message();
    EXPECT_EQ(found.summary->members, 1u);
    EXPECT_EQ(found.summary->links, 2u);
    EXPECT_EQ(found.summary->others, 1u);
  }
}

TEST_F(TarPeers, LongLinkTargetsArePassedOver) {
  write({{"file", "bytes"}});
  ASSERT_EQ(scratch_.run("ln -s " + std::string(200, 't') + " tree/soft").exit_code, 0);
  for (const std::string format : {"gnu", "posix"}) {
    expect_files(scan(archive("--format=" + format)), {{"file", "bytes"}});
  }
}

TEST_F(TarPeers, SparseFilesAreSeenAndPassedOver) {
  write({{"file", "bytes"}});
  // Ten islands: more than the four that fit into an old GNU header.
  ASSERT_EQ(scratch_
                .run("for i in 1 2 3 4 5 6 7 8 9 30; do printf island | "
                     "dd of=tree/holes bs=1M seek=$i conv=notrunc 2>&1; done")
                .exit_code,
            0);
  for (const std::string options :
       {"--format=gnu", "--format=posix --sparse-version=0.0",
        "--format=posix --sparse-version=0.1", "--format=posix --sparse-version=1.0"}) {
    SCOPED_TRACE(options);
    const Scan found = scan(archive("--sparse --hole-detection=raw " + options));
    expect_files(found, {{"file", "bytes"}});
    EXPECT_EQ(found.summary->sparse, 1u);
  }
}

TEST_F(TarPeers, TimesAndModesAreTheFiles) {
  write({{"old", "1"}, {"new", "2"}});
  ASSERT_EQ(scratch_
                .run("touch -d @-86400 tree/old; touch -d @1700000000.25 tree/new; "
                     "chmod 600 tree/old; chmod 755 tree/new")
                .exit_code,
            0);
  constexpr std::int64_t kSecond = 1'000'000'000;
  for (const std::string format : {"gnu", "posix"}) {
    SCOPED_TRACE(format);
    const Scan found = scan(archive("--sort=name --format=" + format));
    ASSERT_THAT(found.names(), ElementsAre("new", "old"));
    EXPECT_EQ(found.members[0].mode, 0755u);
    EXPECT_EQ(found.members[1].mode, 0600u);
    EXPECT_EQ(found.members[1].mtime_ns, -86400 * kSecond);
    EXPECT_EQ(found.members[0].mtime_ns,
              1'700'000'000 * kSecond + (format == "posix" ? kSecond / 4 : 0));
  }
}

TEST_F(TarPeers, PythonInEveryFormat) {
  write(with_long_names());
  for (const std::string format : {"USTAR", "GNU", "PAX"}) {
    SCOPED_TRACE(format);
    // Python's ustar splits names but refuses those that do not fit.
    python("import tarfile, os\nformat = tarfile." + format + R"(_FORMAT
with tarfile.open('out.tar', 'w', format=format) as out:
  for root, folders, names in os.walk('tree'):
    for name in names:
      path = os.path.join(root, name)
      inside = os.path.relpath(path, 'tree')
      if format != tarfile.USTAR_FORMAT or len(inside) <= 150:
        out.add(path, inside)
)");
    Files expected = with_long_names();
    if (format == "USTAR") {
      std::erase_if(expected, [](const auto& file) { return file.first.size() > 150; });
    }
    const std::string stream = scratch_.read("out.tar");
    const Scan found = scan(stream);
    expect_files(found, expected);
    expect_addressable(stream, found);
  }
}

TEST_F(TarPeers, PythonsLargeAndNegativeNumbers) {
  for (const std::string format : {"GNU", "PAX"}) {
    python("import tarfile\nformat = tarfile." + format + R"(_FORMAT
info = tarfile.TarInfo('huge')
info.size = 1 << 40
info.mtime = -5
with open('out.tar', 'wb') as out:
  out.write(info.tobuf(format=format))
)");
    const Scan found = scan(scratch_.read("out.tar"));
    // The header is all there is of it.
    EXPECT_TRUE(found.summary.failed_with(ErrorCode::kCorrupted));
    ASSERT_EQ(found.names(), std::vector<std::string>{"huge"});
    EXPECT_THAT(std::string(found.summary.error().message()), ::testing::HasSubstr("cut off"));
  }
}

TEST_F(TarPeers, ALoneZeroBlockEndsAnArchiveForGnuTarToo) {
  write({{"a", "1"}});
  archive("--format=ustar --transform=s,^./,,");
  ASSERT_EQ(scratch_
                .run("tar -C tree -cf one.tar a && (head -c 1536 one.tar; head -c 1024 one.tar;"
                     " head -c 1024 /dev/zero) > lone.tar")
                .exit_code,
            0);
  const auto listed = scratch_.run("tar -tf lone.tar 2>/dev/null");
  const Scan found = scan(scratch_.read("lone.tar"));
  EXPECT_EQ(listed.output, "a\n");
  EXPECT_THAT(found.names(), ElementsAre("a"));
  EXPECT_TRUE(found.summary->lone_zero_block);
}

TEST_F(TarPeers, CompressedArchivesAreNotTars) {
  write({{"a", "1"}});
  const Scan found = scan(archive("-z"));
  EXPECT_TRUE(found.summary.failed_with(ErrorCode::kCorrupted));
  EXPECT_THAT(found.members, IsEmpty());
}

}  // namespace
}  // namespace leat
