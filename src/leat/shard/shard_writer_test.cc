#include "leat/shard/shard_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "leat/shard/testing/scratch_directory.h"
#include "leat/shard/testing/tar_fixture.h"
#include "leat/store/testing/plain_store.h"

namespace leat {
namespace {

using testing::bytes_of;
using ::testing::ElementsAre;
using testing::PlainStore;
using testing::Scan;
using testing::scan;
using testing::ScratchDirectory;
using testing::text_of;

// Says that it has bytes, and fails or ends where it is told to.
class BrokenReader final : public ObjectReader {
 public:
  enum class End : std::uint8_t { kError, kShort };
  BrokenReader(std::uint64_t size_bytes, std::uint64_t good_bytes, End end)
      : good_bytes_(good_bytes), end_(end) {
    info_.size_bytes = size_bytes;
  }
  const ObjectInfo& info() const noexcept override { return info_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                              const Context&) override {
    if (offset + target.size() <= good_bytes_) return target.size();
    if (end_ == End::kError) return ErrorCode::kIoError;
    return good_bytes_ - std::min(offset, good_bytes_);
  }

 private:
  ObjectInfo info_;
  const std::uint64_t good_bytes_;
  const End end_;
};

// Has no room for anything.
class FullWriter final : public ObjectWriter {
 public:
  Status append(std::span<const std::byte>, const Context&) override { return ErrorCode::kNoSpace; }
  Result<ObjectInfo> commit(const CommitOptions&, const Context&) override { return ObjectInfo{}; }
};

class ShardWriterTest : public ::testing::Test {
 protected:
  ShardWriter begin() { return ShardWriter(*store_.create("s.tar", {}, context_)); }
  std::string written() { return text_of(*read_object(store_, "s.tar", context_)); }

  PlainStore store_;
  Context context_;
};

TEST_F(ShardWriterTest, WritesWhatTheScannerReads) {
  const std::string split = std::string(120, 'p') + "/" + std::string(90, 'n');
  const std::string deep = std::string(600, 'd');
  ShardWriter writer = begin();
  ASSERT_TRUE(writer.add({"a.txt"}, bytes_of("alpha"), context_).ok());
  ASSERT_TRUE(writer.add({.name = "b", .mtime_s = -7, .mode = 0755}, {}, context_).ok());
  ASSERT_TRUE(writer.add({split}, bytes_of(std::string(512, 's')), context_).ok());
  ASSERT_TRUE(writer.add({deep}, bytes_of("deep"), context_).ok());
  const std::uint64_t size = writer.size_bytes();
  ASSERT_TRUE(writer.finish(context_).ok());
  EXPECT_EQ(size, shard_member_bytes("a.txt", 5) + shard_member_bytes("b", 0) +
                      shard_member_bytes(split, 512) + shard_member_bytes(deep, 4));
  EXPECT_EQ(written().size(), size + kShardEndBytes);

  const Scan found = scan(written());
  ASSERT_TRUE(found.summary.ok()) << found.summary.error().message();
  EXPECT_THAT(found.names(), ElementsAre("a.txt", "b", split, deep));
  EXPECT_EQ(found.members[0].data, "alpha");
  EXPECT_EQ(found.members[0].mtime_ns, 0);
  EXPECT_EQ(found.members[0].mode, 0644u);
  EXPECT_EQ(found.members[1].mtime_ns, -7'000'000'000);
  EXPECT_EQ(found.members[1].mode, 0755u);
  EXPECT_EQ(found.members[3].data, "deep");
  EXPECT_TRUE(found.summary->has_end);
}

TEST_F(ShardWriterTest, OtherTarsReadIt) {
  const std::string deep = "deep/" + std::string(200, 'd');
  const std::string large(3'000'000, 'l');
  ShardWriter writer = begin();
  ASSERT_TRUE(writer.add({"plain"}, bytes_of("alpha"), context_).ok());
  ASSERT_TRUE(
      writer.add({"folder/unicode-\xc3\xa4 \xe2\x82\xac"}, bytes_of("euro"), context_).ok());
  ASSERT_TRUE(writer.add({deep}, bytes_of("deep"), context_).ok());
  ASSERT_TRUE(writer.add({"large"}, bytes_of(large), context_).ok());
  ASSERT_TRUE(writer.add({.name = "old", .mtime_s = -1}, bytes_of("old"), context_).ok());
  ASSERT_TRUE(writer.finish(context_).ok());

  const ScratchDirectory scratch;
  scratch.write("s.tar", written());
  const auto extracted = scratch.run("mkdir out && tar --warning=no-timestamp -xf s.tar -C out");
  EXPECT_EQ(extracted.exit_code, 0) << extracted.output;
  EXPECT_EQ(extracted.output, "");
  EXPECT_EQ(scratch.read("out/plain"), "alpha");
  EXPECT_EQ(scratch.read("out/folder/unicode-\xc3\xa4 \xe2\x82\xac"), "euro");
  EXPECT_EQ(scratch.read("out/" + deep), "deep");
  EXPECT_EQ(scratch.read("out/large"), large);
  const auto listed = scratch.run(
      "python3 -c \"import tarfile; print([(m.name, m.size, m.mtime) for m in "
      "tarfile.open('s.tar') if m.size < 5])\"");
  EXPECT_EQ(listed.output, "[('folder/unicode-\xc3\xa4 \xe2\x82\xac', 4, 0), ('" + deep +
                               "', 4, 0), ('old', 3, -1)]\n");
}

TEST_F(ShardWriterTest, StreamsFromAReaderOfAnySize) {
  for (const std::size_t size :
       {0, 1, 511, 512, 513, 1 << 20, (1 << 20) + 1, 3 * (1 << 20) - 700}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
    ASSERT_TRUE(write_object(store_, "source", bytes_of(bytes), {}, context_).ok());
    ShardWriter writer = begin();
    ASSERT_TRUE(writer.add({"first"}, bytes_of("1"), context_).ok());
    ASSERT_TRUE(writer.add({"copy"}, **store_.open("source", {}, context_), context_).ok());
    ASSERT_TRUE(writer.add({"direct"}, bytes_of(bytes), context_).ok());
    ASSERT_TRUE(writer.finish(context_).ok());
    const Scan found = scan(written());
    ASSERT_EQ(found.members.size(), 3u) << size;
    EXPECT_EQ(found.members[1].data, bytes);
    EXPECT_EQ(found.members[2].data, bytes);
  }
}

TEST_F(ShardWriterTest, NamesThatATarCannotHoldAreRefusedAndTheRestGoesOn) {
  using namespace std::string_view_literals;
  ShardWriter writer = begin();
  for (const std::string_view bad : {""sv, "a\0b"sv, "folder/"sv}) {
    EXPECT_TRUE(writer.add({bad}, {}, context_).failed_with(ErrorCode::kInvalidArgument));
  }
  EXPECT_TRUE(writer.add({"good"}, {}, context_).ok());
  EXPECT_TRUE(writer.finish(context_).ok());
  EXPECT_THAT(scan(written()).names(), ElementsAre("good"));
}

TEST_F(ShardWriterTest, AFailingSourceBreaksTheArchiveForGood) {
  for (const auto end : {BrokenReader::End::kError, BrokenReader::End::kShort}) {
    ShardWriter writer = begin();
    BrokenReader source(3 << 20, 2 << 20, end);
    EXPECT_FALSE(writer.add({"broken"}, source, context_).ok());
    EXPECT_TRUE(writer.source_failed());
    EXPECT_FALSE(writer.add({"next"}, {}, context_).ok());
    EXPECT_FALSE(writer.finish(context_).ok());
  }
  EXPECT_TRUE(store_.stat("s.tar", context_).failed_with(ErrorCode::kNotFound));
}

TEST_F(ShardWriterTest, AFullTargetIsNotTheSourcesFault) {
  ShardWriter writer(std::make_unique<FullWriter>());
  BrokenReader source(3 << 20, 3 << 20, BrokenReader::End::kError);
  EXPECT_TRUE(writer.add({"x"}, source, context_).failed_with(ErrorCode::kNoSpace));
  EXPECT_FALSE(writer.source_failed());
  EXPECT_TRUE(writer.finish(context_).failed_with(ErrorCode::kNoSpace));
}

}  // namespace
}  // namespace leat
