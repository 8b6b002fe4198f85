// What the local store promises when its disk lies: a byte flipped in every kind of file and in
// every field of a record, and files that are cut short. Whatever happens, an object is served as
// it was written or refused by name, the rest is served, and nothing that is damaged is thrown
// away.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "leat/local/drive.h"
#include "leat/local/layout.h"
#include "leat/local/local_store.h"
#include "leat/local/testing/local_fixture.h"
#include "leat/shard/shard_writer.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

using leat::testing::Bytes;
using leat::testing::pattern_bytes;
using leat::testing::succeeds;
using testing::simulated_options;
using Names = std::set<std::string>;

constexpr std::string_view kShard = "shard.tar";

bool is_member(std::string_view name) {
  return name.starts_with(kShard) && name != kShard;
}

bool reads(ObjectStore& bucket, const std::string& name, const Bytes& expected) {
  const auto bytes = read_object(bucket, name, {});
  return bytes.ok() && *bytes == expected;
}

// A record of the store, and where it stands.
struct Recorded {
  std::string path;  // of its pack
  RecordKind kind = RecordKind::kObject;
  std::string key;
  std::uint64_t offset = 0;
  std::uint64_t head_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::uint64_t data_bytes = 0;
  bool is_newest = false;

  bool is_index() const { return key.find('\0') != key.npos; }
  // The names that cannot be served when it is damaged.
  Names concerned() const;
};

// A disk with a store on it, as files; and what the store was given.
struct Image {
  std::map<std::string, Bytes> files;
  std::map<std::string, Bytes> objects;  // members of the shard too
  std::map<std::string, ObjectInfo> infos;
  Names removed;
  Names listed;
  std::vector<Recorded> records;

  std::vector<std::string> paths(std::string_view part) const {
    std::vector<std::string> matching;
    for (const auto& [path, bytes] : files) {
      if (path.find(part) != path.npos) matching.push_back(path);
    }
    return matching;
  }
  // The newest record of an object.
  const Recorded& record(std::string_view name) const {
    const std::string key = "data/" + std::string(name);
    return *std::find_if(records.begin(), records.end(), [&](const Recorded& recorded) {
      return recorded.is_newest && recorded.key == key;
    });
  }
};

Names Recorded::concerned() const {
  const bool is_object = kind == RecordKind::kObject || kind == RecordKind::kReference;
  if (!is_newest || !is_object || is_index()) return {};
  const std::string name = key.substr(key.find('/') + 1);
  if (name != kShard) return {name};
  return {name, name + "/a", name + "/b", name + "/c"};
}

class Builder {
 public:
  Image build() {
    store_ = *LocalStore::create({"drive0"}, simulated_options(disk_));
    EXPECT_TRUE(succeeds(store_->create_bucket("data", {}, {})));
    EXPECT_TRUE(succeeds(store_->create_bucket("spare", {Durability::kMemory}, {})));
    bucket_ = *store_->bucket("data");
    fill();
    for (const auto& [name, bytes] : image_.objects) {
      image_.infos[name] = *bucket_->stat(name, {});
    }
    EXPECT_TRUE(succeeds(store_->close({})));
    bucket_.reset();
    store_.reset();
    find_records();
    for (const std::string& path : disk_.paths()) image_.files[path] = *disk_.disk_bytes(path);
    return std::move(image_);
  }

 private:
  void put(const std::string& name, std::size_t size, CreateOptions options = {}) {
    const Bytes bytes = pattern_bytes(size, size + name.size());
    EXPECT_TRUE(succeeds(write_object(*bucket_, name, bytes, options, {}))) << name;
    image_.objects[name] = bytes;
    image_.listed.insert(name);
  }

  void fill() {
    put("replaced", 700);
    put("gone-early", 300);
    EXPECT_TRUE(succeeds(bucket_->remove("gone-early", {}, {})));
    // A pack with tombstones that an older pack needs, and so a list of names.
    put("first", 1000);
    EXPECT_TRUE(succeeds(store_->compact({})));
    put("empty", 0);
    put("small", 100);
    put("block", 512);
    put("odd/../name", 513);
    put(std::string(300, 'n'), 200);
    CreateOptions with_metadata;
    with_metadata.metadata.user["colour"] = "blue";
    put("described", 800, with_metadata);
    put("large", 9000);
    put("copied", 5000);
    EXPECT_TRUE(succeeds(bucket_->copy("copied", "copy", {}, {})));
    image_.objects["copy"] = image_.objects["copied"];
    image_.listed.insert("copy");
    put_shard();
    put("replaced", 900);
    put("gone", 250);
    put("gone-large", 6000);
    for (const std::string name : {"gone", "gone-large"}) {
      EXPECT_TRUE(succeeds(bucket_->remove(name, {}, {})));
      image_.objects.erase(name);
      image_.listed.erase(name);
      image_.removed.insert(name);
    }
    image_.objects.erase("gone-early");
    image_.listed.erase("gone-early");
    image_.removed.insert("gone-early");
    EXPECT_TRUE(succeeds(store_->maintain({})));
  }

  void put_shard();
  void find_records();

  SimulatedFileSystem disk_;
  std::shared_ptr<LocalStore> store_;
  std::shared_ptr<ObjectStore> bucket_;
  Image image_;
};

void Builder::put_shard() {
  ShardWriter shard(*bucket_->create(kShard, {}, {}));
  for (const std::string name : {"a", "b", "c"}) {
    const Bytes bytes = pattern_bytes(100 + 300 * (name[0] - 'a'), 7);
    EXPECT_TRUE(succeeds(shard.add({name}, bytes, {})));
    image_.objects[std::string(kShard) + "/" + name] = bytes;
  }
  EXPECT_TRUE(succeeds(shard.finish({})));
  image_.objects[std::string(kShard)] = *read_object(*bucket_, kShard, {});
  image_.listed.insert(std::string(kShard));
}

void Builder::find_records() {
  const StoreOptions options = simulated_options(disk_);
  GenerationSource generations;
  auto superblock = *read_superblock(*disk_.view("drive0"));
  auto drive = *Drive::open(disk_.view("drive0"), std::move(superblock), PackLog::Access::kReadOnly,
                            options.drive, generations);
  for (const auto& pack : drive->log().packs()) {
    PackWalk walk;
    walk.damage = [](std::uint64_t, std::uint64_t, const std::string& what) -> Status {
      return Error(ErrorCode::kCorrupted, what);
    };
    walk.record = [&](std::uint64_t offset, Pack::Head& head) {
      const auto found = *drive->find(head.record.key, ReadAlong::kNothing, {});
      const Location here{pack->id(), static_cast<std::uint32_t>(offset / kBlockBytes)};
      const bool is_object = head.record.kind == RecordKind::kObject;
      image_.records.push_back({"drive0/" + pack_path(pack->id()), head.record.kind,
                                head.record.key, offset, head.head_bytes, head.length_bytes,
                                is_object ? head.record.size_bytes : 0,
                                found && found->place.location() == here});
      return ok_status();
    };
    EXPECT_TRUE(succeeds(walk_pack(*pack, 0, pack->end_bytes(), walk)));
  }
}

// A copy of the image, to be damaged and looked at.
class Patient {
 public:
  explicit Patient(const Image& image) : image_(image) {
    for (const std::string_view directory :
         {kPackDirectory, kObjectDirectory, kCatalogueDirectory, kTemporaryDirectory}) {
      EXPECT_TRUE(succeeds(disk_.make_directories("drive0/" + std::string(directory))));
    }
    for (const auto& [path, bytes] : image.files) {
      EXPECT_TRUE(succeeds(disk_.make_directories(parent_path(path))));
      auto file = disk_.open(path, OpenMode::kCreate);
      EXPECT_TRUE(succeeds((*file)->write_at(0, std::span<const std::byte>(bytes))));
      EXPECT_TRUE(succeeds((*file)->sync()));
    }
  }

  SimulatedFileSystem& disk() { return disk_; }
  LocalStore& store() { return *store_; }
  ObjectStore& bucket() { return *bucket_; }

  void flip(const std::string& path, std::uint64_t offset) {
    const Bytes bytes = *disk_.disk_bytes(path);
    const std::byte flipped = bytes.at(offset) ^ std::byte(1 << offset % 8);
    EXPECT_TRUE(succeeds(disk_.overwrite_disk(path, offset, std::span(&flipped, 1))));
  }
  void cut(const std::string& path, std::uint64_t size_bytes) {
    EXPECT_TRUE(succeeds(disk_.truncate_disk(path, size_bytes)));
  }
  void erase(const std::string& path) { EXPECT_TRUE(succeeds(disk_.remove_file(path))); }

  Status try_open() {
    ASSIGN_OR_RETURN(store_, LocalStore::open({"drive0"}, simulated_options(disk_)));
    ASSIGN_OR_RETURN(bucket_, store_->bucket("data"));
    return ok_status();
  }
  bool open() {
    const Status status = try_open();
    EXPECT_TRUE(succeeds(status));
    return status.ok();
  }
  void close() {
    EXPECT_TRUE(succeeds(store_->close({})));
    bucket_.reset();
    store_.reset();
  }

  // The names that are not served. Fails the test when anything else is wrong.
  Names refused() {
    Names names;
    for (const auto& [name, bytes] : image_.objects) {
      if (!is_served(name, bytes)) names.insert(name);
    }
    for (const std::string& name : image_.removed) {
      EXPECT_TRUE(bucket_->stat(name, {}).failed_with(ErrorCode::kNotFound)) << name;
    }
    Names listed;
    const auto page = bucket_->list({}, {});
    EXPECT_TRUE(succeeds(page));
    if (page.ok()) {
      for (const auto& entry : page->entries) listed.insert(entry.name);
      EXPECT_EQ(listed, image_.listed);
    }
    return names;
  }

  // What verify() finds, by name; nameless damage as "".
  enum class Repair : std::uint8_t { kNo, kYes };
  Names verify(Repair repair = Repair::kNo) {
    VerifyOptions options;
    options.repair = repair == Repair::kYes;
    const auto report = store_->verify(options, {});
    EXPECT_TRUE(succeeds(report));
    Names names;
    if (!report.ok()) return names;
    for (const auto& damaged : report->damaged) {
      names.insert(damaged.name.substr(damaged.name.find('/') + 1));
    }
    is_ok_ = report->ok();
    return names;
  }
  // Whether the last verify() left nothing damaged.
  bool is_ok() const { return is_ok_; }

 private:
  bool is_served(const std::string& name, const Bytes& expected) {
    const auto info = bucket_->stat(name, {});
    const auto bytes = read_object(*bucket_, name, {});
    if (info.ok()) {
      const ObjectInfo& written = image_.infos.at(name);
      EXPECT_EQ(info->generation, written.generation) << name;
      EXPECT_EQ(info->etag, written.etag) << name;
      EXPECT_EQ(info->metadata == nullptr, written.metadata == nullptr) << name;
      if (info->metadata && written.metadata) {
        EXPECT_EQ(info->metadata->user, written.metadata->user) << name;
      }
    }
    if (bytes.ok()) {
      EXPECT_TRUE(*bytes == expected) << name << " has wrong bytes";
      EXPECT_TRUE(info.ok()) << name;
      return true;
    }
    EXPECT_TRUE(bytes.failed_with(ErrorCode::kCorrupted))
        << name << ": " << bytes.error().message();
    const std::string owner = name.starts_with(kShard) ? std::string(kShard) : name;
    EXPECT_NE(bytes.error().message().find("data/" + owner), std::string_view::npos)
        << name << ": " << bytes.error().message();
    return false;
  }

  const Image& image_;
  SimulatedFileSystem disk_;
  std::shared_ptr<LocalStore> store_;
  std::shared_ptr<ObjectStore> bucket_;
  bool is_ok_ = false;
};

class DamageTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { image_ = new Image(Builder().build()); }
  static void TearDownTestSuite() { delete image_; }

  static const Image& image() { return *image_; }
  // Every byte that says something, and some of the zeros.
  static std::vector<std::uint64_t> telling_bytes(const std::string& path, std::uint64_t begin,
                                                  std::uint64_t end) {
    const Bytes& bytes = image_->files.at(path);
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t at = begin; at < end; ++at) {
      if (bytes.at(at) != std::byte{0} || at % 64 == 0) offsets.push_back(at);
    }
    return offsets;
  }

  static Image* image_;
};
Image* DamageTest::image_ = nullptr;

// A tar checksum can be written in several ways, and padding says nothing.
bool may_be_harmless(const Recorded& record, std::uint64_t at, const Bytes& pack) {
  const std::uint64_t within = at % kBlockBytes;
  return (within >= kChecksumOffset && within < kChecksumOffset + kChecksumBytes) ||
         pack.at(record.offset + at) == std::byte{0} || at >= record.head_bytes + record.data_bytes;
}

TEST_F(DamageTest, TheImageIsWhole) {
  Patient patient(image());
  ASSERT_TRUE(patient.open());
  EXPECT_EQ(patient.refused(), Names());
  EXPECT_EQ(patient.verify(), Names());
}

TEST_F(DamageTest, EveryByteOfARecordIsRefusedOrHarmless) {
  Names seen;  // one record of each shape is enough
  for (const Recorded& record : image().records) {
    const std::string shape = std::string(1, static_cast<char>(record.kind)) +
                              std::to_string(record.head_bytes) + (record.is_newest ? "n" : "o") +
                              (record.concerned().contains(std::string(kShard)) ? "s" : "");
    if (!seen.insert(shape).second) continue;
    const Bytes& pack = image().files.at(record.path);
    for (const std::uint64_t offset :
         telling_bytes(record.path, record.offset, record.offset + record.length_bytes)) {
      const std::uint64_t at = offset - record.offset;
      if (at > record.head_bytes && at % 61 != 0) continue;  // of the data some bytes are enough
      Patient patient(image());
      patient.flip(record.path, offset);
      ASSERT_TRUE(patient.open()) << record.key << " byte " << at;
      const Names refused = patient.refused();
      EXPECT_TRUE(refused == record.concerned() ||
                  (refused.empty() && may_be_harmless(record, at, pack)))
          << ::testing::PrintToString(refused);
      ASSERT_FALSE(HasFailure()) << record.key << " kind " << static_cast<char>(record.kind)
                                 << " byte " << at;
    }
  }
  EXPECT_GE(seen.size(), 7u);
}

TEST_F(DamageTest, ADamagedRecordIsNamedKeptAndReplaceable) {
  for (const Recorded& record : image().records) {
    for (const std::uint64_t at : {std::uint64_t{260}, record.head_bytes + record.data_bytes / 2}) {
      if (at > record.head_bytes && record.data_bytes == 0) continue;
      if (at == record.head_bytes) continue;
      Patient patient(image());
      patient.flip(record.path, record.offset + at);
      ASSERT_TRUE(patient.open());
      const Names concerned = record.concerned();
      const Names found = patient.verify();
      EXPECT_FALSE(patient.is_ok() && record.is_newest);
      for (const std::string& name : concerned) {
        if (is_member(name)) continue;
        EXPECT_TRUE(found.contains(name)) << name;
      }
      EXPECT_TRUE(succeeds(patient.store().compact({})));
      EXPECT_EQ(patient.refused(), concerned) << "after compaction";
      patient.close();
      ASSERT_TRUE(patient.open());
      EXPECT_EQ(patient.refused(), concerned) << "after compaction and a restart";
      for (const std::string& name : concerned) {
        if (is_member(name)) continue;
        const Bytes other = pattern_bytes(333, 3);
        EXPECT_TRUE(succeeds(write_object(patient.bucket(), name, other, {}, {}))) << name;
        EXPECT_TRUE(reads(patient.bucket(), name, other)) << name;
        EXPECT_TRUE(succeeds(patient.bucket().remove(name, {}, {}))) << name;
        EXPECT_TRUE(patient.bucket().stat(name, {}).failed_with(ErrorCode::kNotFound)) << name;
      }
      ASSERT_FALSE(HasFailure()) << record.key << " kind " << static_cast<char>(record.kind)
                                 << " byte " << at;
    }
  }
}

TEST_F(DamageTest, ADamagedObjectCanBeRemoved) {
  for (const std::string name : {"small", "described", "large", "copy"}) {
    Patient patient(image());
    const Recorded& record = image().record(name);
    patient.flip(record.path, record.offset + 130);
    ASSERT_TRUE(patient.open());
    EXPECT_EQ(patient.refused(), Names{name});
    EXPECT_TRUE(succeeds(patient.bucket().remove(name, {}, {})));
    EXPECT_TRUE(patient.bucket().stat(name, {}).failed_with(ErrorCode::kNotFound)) << name;
    patient.close();
    ASSERT_TRUE(patient.open());
    EXPECT_TRUE(patient.bucket().stat(name, {}).failed_with(ErrorCode::kNotFound)) << name;
  }
}

TEST_F(DamageTest, APackThatIsCutShortLosesNoNames) {
  for (const std::string& path : image().paths("packs/")) {
    const std::uint64_t size = image().files.at(path).size();
    std::set<std::uint64_t> points{0, 1, 511, 512, size / 2, size - 1024, size - 512, size - 1};
    for (const Recorded& record : image().records) {
      if (record.path != path) continue;
      points.insert({record.offset, record.offset + 100, record.offset + record.head_bytes,
                     record.offset + record.length_bytes - 1});
    }
    for (const std::uint64_t point : points) {
      if (point >= size) continue;
      Patient patient(image());
      patient.cut(path, point);
      ASSERT_TRUE(patient.open()) << path << " cut at " << point;
      // The last pack is filled up with zeros again: what was zero may be whole.
      const Bytes& pack = image().files.at(path);
      Names gone;
      Names in_doubt;
      for (const Recorded& record : image().records) {
        const std::uint64_t end = record.offset + record.head_bytes + record.data_bytes;
        if (record.path != path || end <= point) continue;
        const auto cut = pack.begin() + static_cast<std::ptrdiff_t>(std::max(point, record.offset));
        const auto cut_end = pack.begin() + static_cast<std::ptrdiff_t>(end);
        const bool is_zero =
            std::all_of(cut, cut_end, [](std::byte b) { return b == std::byte{0}; });
        (is_zero ? in_doubt : gone).merge(record.concerned());
      }
      const Names refused = patient.refused();
      EXPECT_TRUE(std::includes(refused.begin(), refused.end(), gone.begin(), gone.end()));
      in_doubt.merge(Names(gone));
      EXPECT_TRUE(std::includes(in_doubt.begin(), in_doubt.end(), refused.begin(), refused.end()));
      (void)patient.verify();
      EXPECT_TRUE(refused.empty() || !patient.is_ok());
      EXPECT_TRUE(succeeds(patient.store().compact({})));
      EXPECT_EQ(patient.refused(), refused) << "after compaction";
      ASSERT_FALSE(HasFailure()) << path << " cut at " << point;
    }
  }
}

TEST_F(DamageTest, ADamagedCatalogueIsMadeAnew) {
  const auto expect_whole = [&](const std::string& what,
                                const std::function<void(Patient&)>& damage) {
    Patient patient(image());
    damage(patient);
    ASSERT_TRUE(patient.open()) << what;
    EXPECT_EQ(patient.refused(), Names()) << what;
    ASSERT_FALSE(HasFailure()) << what;
  };
  ASSERT_GE(image().paths("catalogue/").size(), 2u);
  for (const std::string& path : image().paths("catalogue/")) {
    const std::uint64_t size = image().files.at(path).size();
    for (const std::uint64_t at : telling_bytes(path, 0, size)) {
      expect_whole(path + " byte " + std::to_string(at), [&](Patient& p) { p.flip(path, at); });
      if (HasFatalFailure()) return;
    }
    for (std::uint64_t at = 0; at < size; at += 37) {
      expect_whole(path + " cut at " + std::to_string(at), [&](Patient& p) { p.cut(path, at); });
      if (HasFatalFailure()) return;
    }
    expect_whole(path + " is lost", [&](Patient& p) { p.erase(path); });
  }
}

TEST_F(DamageTest, ACatalogueDamagedAtRunTimeIsReportedAndRepaired) {
  Patient patient(image());
  ASSERT_TRUE(patient.open());
  for (const std::string& path : image().paths(".run")) patient.flip(path, 40);
  EXPECT_TRUE(patient.bucket().list({}, {}).failed_with(ErrorCode::kCorrupted));
  for (const auto& [name, bytes] : image().objects) {
    const auto read = read_object(patient.bucket(), name, {});
    ASSERT_TRUE(succeeds(read)) << name;
    EXPECT_EQ(*read, bytes) << name;
  }
  EXPECT_EQ(patient.verify(), Names{""});
  EXPECT_FALSE(patient.is_ok());
  EXPECT_EQ(patient.verify(Patient::Repair::kYes), Names{""});
  EXPECT_TRUE(patient.is_ok());
  // Changes after the repair are not lost.
  EXPECT_TRUE(
      succeeds(write_object(patient.bucket(), "small", image().objects.at("small"), {}, {})));
  EXPECT_TRUE(succeeds(patient.bucket().remove("first", {}, {})));
  EXPECT_TRUE(succeeds(patient.store().maintain({})));
  patient.close();
  ASSERT_TRUE(patient.open());
  EXPECT_EQ(patient.verify(), Names());
  EXPECT_TRUE(patient.bucket().stat("first", {}).failed_with(ErrorCode::kNotFound));
  EXPECT_TRUE(reads(patient.bucket(), "small", image().objects.at("small")));
}

TEST_F(DamageTest, WithCatalogueAndHeaderGoneTheStretchIsReportedAndFilesStay) {
  for (const std::string name : {"small", "described", "large", "copy"}) {
    Patient patient(image());
    const Recorded& record = image().record(name);
    patient.flip(record.path, record.offset + 130);
    for (const std::string& path : image().paths("manifest")) patient.erase(path);
    ASSERT_TRUE(patient.open());
    EXPECT_EQ(patient.verify(Patient::Repair::kYes), Names{""}) << name;
    EXPECT_FALSE(patient.is_ok());
    EXPECT_TRUE(succeeds(patient.store().compact({})));
    for (const auto& [other, bytes] : image().objects) {
      if (other == name) continue;
      EXPECT_TRUE(reads(patient.bucket(), other, bytes)) << other;
    }
    for (const std::string& path : image().paths("objects/")) {
      EXPECT_TRUE(succeeds(patient.disk().status(path))) << "the repair of " << name;
    }
    EXPECT_EQ(patient.verify(), Names{""}) << name << " after compaction";
  }
}

TEST_F(DamageTest, ADamagedSuperblockIsRefusedByName) {
  const std::string path = "drive0/" + std::string(kSuperblockFile);
  const std::uint64_t size = image().files.at(path).size();
  for (std::uint64_t at = 0; at < 2 * size; ++at) {
    Patient patient(image());
    if (at < size) {
      patient.flip(path, at);
    } else {
      patient.cut(path, at - size);
    }
    const Status status = patient.try_open();
    ASSERT_TRUE(status.failed_with(ErrorCode::kCorrupted)) << at;
    ASSERT_NE(status.error().message().find(kSuperblockFile), std::string_view::npos);
  }
}

TEST_F(DamageTest, ADamagedFileOfALargeObjectIsRefused) {
  for (const std::string& path : image().paths("objects/")) {
    const std::uint64_t size = image().files.at(path).size();
    if (path.ends_with(kShard)) continue;
    const Names concerned = path.ends_with("large") ? Names{"large"} : Names{"copied", "copy"};
    for (std::uint64_t step = 0; step < 20; ++step) {
      Patient patient(image());
      const std::uint64_t at = size * (step / 2) / 10;
      if (step == 0) {
        patient.erase(path);
      } else if (step % 2 == 0) {
        patient.cut(path, at);
      } else {
        patient.flip(path, at);
      }
      ASSERT_TRUE(patient.open());
      EXPECT_EQ(patient.refused(), concerned) << path;
      EXPECT_EQ(patient.verify(Patient::Repair::kYes), concerned) << path;
      EXPECT_FALSE(patient.is_ok());
      const std::string& name = *concerned.begin();
      EXPECT_TRUE(
          succeeds(write_object(patient.bucket(), name, image().objects.at("large"), {}, {})));
      EXPECT_TRUE(reads(patient.bucket(), name, image().objects.at("large")));
      // Neither now nor later does the loss of the old file take the new one along.
      if (concerned.size() > 1) {
        EXPECT_TRUE(succeeds(patient.bucket().remove("copy", {}, {})));
      }
      patient.close();
      ASSERT_TRUE(patient.open());
      EXPECT_TRUE(reads(patient.bucket(), name, image().objects.at("large")));
      ASSERT_FALSE(HasFailure()) << path << " at " << at;
    }
  }
}

TEST_F(DamageTest, ADamagedListOfNamesBringsNothingBack) {
  Patient grown(image());
  ASSERT_TRUE(grown.open());
  EXPECT_TRUE(succeeds(grown.store().compact({})));
  for (const std::string name : {"small", "block"})
    EXPECT_TRUE(succeeds(grown.bucket().remove(name, {}, {})));
  EXPECT_TRUE(succeeds(write_object(grown.bucket(), "filler", pattern_bytes(2000, 1), {}, {})));
  grown.close();
  Image later;
  for (const std::string& path : grown.disk().paths())
    later.files[path] = *grown.disk().disk_bytes(path);
  for (const std::string& path : later.paths(".names")) {
    for (std::uint64_t at = 0; at < later.files.at(path).size(); ++at) {
      Patient patient(later);
      if (at % 3 == 0) {
        patient.cut(path, at);
      } else {
        patient.flip(path, at);
      }
      ASSERT_TRUE(patient.open());
      EXPECT_TRUE(succeeds(patient.store().compact({})));
      for (const std::string& run : later.paths("manifest")) (void)patient.disk().remove_file(run);
      patient.close();
      ASSERT_TRUE(patient.open());
      for (const std::string name : {"small", "block", "gone", "gone-large"}) {
        ASSERT_TRUE(patient.bucket().stat(name, {}).failed_with(ErrorCode::kNotFound)) << name;
      }
      EXPECT_TRUE(reads(patient.bucket(), "large", image().objects.at("large")));
    }
  }
}

TEST_F(DamageTest, AnIndexIsMadeAnewFromItsShard) {
  const Recorded& index =
      *std::find_if(image().records.begin(), image().records.end(),
                    [](const Recorded& r) { return r.is_newest && r.is_index(); });
  for (const bool is_lost : {false, true}) {
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{300}, index.head_bytes + 70}) {
      if (is_lost && at > index.head_bytes) continue;
      Patient patient(image());
      patient.flip(index.path, index.offset + at);
      if (is_lost) {
        for (const std::string& path : image().paths("manifest")) patient.erase(path);
      }
      ASSERT_TRUE(patient.open());
      EXPECT_EQ(patient.refused(), Names());
      EXPECT_TRUE(patient.verify().contains(std::string(kShard)));
      EXPECT_FALSE(patient.is_ok());
      EXPECT_TRUE(patient.verify(Patient::Repair::kYes).contains(std::string(kShard)));
      EXPECT_FALSE(patient.verify().contains(std::string(kShard)));
      patient.close();
      ASSERT_TRUE(patient.open());
      EXPECT_EQ(patient.refused(), Names());
      EXPECT_FALSE(patient.verify().contains(std::string(kShard)));
    }
  }
}

}  // namespace
}  // namespace leat::local
