#include "leat/drivers/posix/posix_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "leat/base/testing/temporary_directory.h"
#include "leat/store/testing/contract.h"

namespace leat {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;
using testing::ContractSubject;
using testing::fails_with;
using testing::StoreContract;
using testing::succeeds;
using testing::TemporaryDirectory;
using Names = std::vector<std::string>;

// A store in a directory that lives as long as it.
std::shared_ptr<ObjectStore> make_store() {
  auto directory = std::make_shared<TemporaryDirectory>();
  auto store = open_posix_store(directory->path().string());
  if (!succeeds(store)) return nullptr;
  ObjectStore* borrowed = store->get();
  return {borrowed,
          [directory, owner = *std::move(store)](ObjectStore*) mutable { owner.reset(); }};
}

INSTANTIATE_TEST_SUITE_P(Posix, StoreContract,
                         ::testing::Values(ContractSubject{"posix", make_store}),
                         testing::contract_subject_name);

class PosixStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = open_posix_store(root().string());
    ASSERT_TRUE(succeeds(store));
    store_ = *std::move(store);
  }

  const fs::path& root() const { return directory_.path(); }

  void make_file(const fs::path& path, std::string_view text) {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << text;
  }

  void put(std::string_view name, std::string_view text) {
    CreateOptions options;
    options.durability = Durability::kMemory;
    ASSERT_TRUE(succeeds(write_object(*store_, name, bytes_of(text), options, {}))) << name;
  }

  Names list(ListRequest request = {}) {
    Names names;
    while (true) {
      const auto page = store_->list(request, {});
      EXPECT_TRUE(succeeds(page));
      if (!page.ok()) return names;
      for (const auto& entry : page->entries) names.push_back(entry.name);
      for (const auto& prefix : page->common_prefixes) names.push_back(prefix);
      if (page->next_start_after.empty()) return names;
      request.start_after = page->next_start_after;
    }
  }

  const TemporaryDirectory directory_;
  std::shared_ptr<ObjectStore> store_;
};

TEST_F(PosixStoreTest, ObjectsAreFilesUnderTheirNames) {
  put("train/1.jpg", "one");
  std::ifstream file(root() / "train/1.jpg");
  std::string text;
  file >> text;
  EXPECT_EQ(text, "one");
  make_file("val/2.jpg", "two");
  EXPECT_EQ(*read_object(*store_, "val/2.jpg", {}), bytes_of("two"));
  EXPECT_EQ(list(), (Names{"train/1.jpg", "val/2.jpg"}));
  EXPECT_EQ(store_->url(), "file://" + root().string());
}

TEST_F(PosixStoreTest, SaysWhyANameCannotBe) {
  const auto why = [&](std::string_view name) {
    const auto writer = store_->create(name, {}, {});
    EXPECT_TRUE(fails_with(writer, ErrorCode::kInvalidArgument)) << name;
    return writer.ok() ? std::string() : std::string(writer.error().message());
  };
  EXPECT_NE(why("a//b").find("\"//\""), std::string::npos);
  EXPECT_NE(why("../b").find("\"..\""), std::string::npos);
  EXPECT_NE(why(std::string(256, 'c')).find("255"), std::string::npos);
  EXPECT_NE(why("x/.leat-tmp-1").find("being written"), std::string::npos);
  put("file", "x");
  EXPECT_NE(why("file/beneath/it").find("\"file\" is a file"), std::string::npos);
  put("directory/file", "x");
  EXPECT_NE(why("directory").find("is a directory"), std::string::npos);
  EXPECT_EQ(list(), (Names{"directory/file", "file"}));
}

TEST_F(PosixStoreTest, ADirectoryThatAppearsBeforeCommitIsInTheWay) {
  for (const auto& precondition : {Precondition::none(), Precondition::absent()}) {
    CreateOptions options;
    options.precondition = precondition;
    auto writer = store_->create("name", options, {});
    ASSERT_TRUE(succeeds(writer));
    make_file("name/beneath", "x");
    EXPECT_TRUE(fails_with((*writer)->commit({}, {}), ErrorCode::kInvalidArgument));
    fs::remove_all(root() / "name");
  }
}

TEST_F(PosixStoreTest, DirectoriesAreNoObjects) {
  fs::create_directories(root() / "empty/deep");
  EXPECT_TRUE(fails_with(store_->stat("empty", {}), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(store_->open("empty", {}, {}), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(store_->remove("empty/deep", {}, {}), ErrorCode::kNotFound));
  EXPECT_TRUE(fs::exists(root() / "empty/deep"));
  EXPECT_EQ(list(), Names());
  ListRequest request;
  request.delimiter = "/";
  EXPECT_EQ(list(request), Names()) << "a common prefix without an object";
}

TEST_F(PosixStoreTest, RemovesDirectoriesWithTheirLastObject) {
  put("a/b/c/1", "x");
  put("a/2", "x");
  ASSERT_TRUE(succeeds(store_->remove("a/b/c/1", {}, {})));
  EXPECT_FALSE(fs::exists(root() / "a/b"));
  EXPECT_TRUE(fs::exists(root() / "a/2"));
  ASSERT_TRUE(succeeds(store_->remove("a/2", {}, {})));
  EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(PosixStoreTest, HidesAndRemovesTemporaryFiles) {
  {
    auto writer = store_->create("deep/er/name", {}, {});
    ASSERT_TRUE(succeeds(writer));
    ASSERT_TRUE(succeeds((*writer)->append(bytes_of("abandoned"), {})));
    EXPECT_FALSE(fs::is_empty(root() / "deep/er"));
    EXPECT_EQ(list(), Names());
    ListRequest request;
    request.delimiter = "/";
    EXPECT_EQ(list(request), Names());
  }
  EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(PosixStoreTest, AForeignTemporaryFileIsNotTouched) {
  const std::string name = ".leat-tmp-" + std::to_string(getpid()) + "-1";
  make_file(name, "left behind");
  put("name", "x");
  EXPECT_TRUE(fs::exists(root() / name));
  EXPECT_EQ(list(), Names{"name"});
}

TEST_F(PosixStoreTest, FollowsLinksInsideTheTree) {
  make_file("real/file", "bytes");
  fs::create_symlink("real/file", root() / "link");
  fs::create_directory_symlink("real", root() / "alias");
  fs::create_symlink("../real/file", root() / "real/up");
  for (const char* name : {"link", "alias/file", "real/up"}) {
    const auto bytes = read_object(*store_, name, {});
    ASSERT_TRUE(succeeds(bytes)) << name;
    EXPECT_EQ(*bytes, bytes_of("bytes"));
  }
  EXPECT_EQ(list(), (Names{"alias/file", "alias/up", "link", "real/file", "real/up"}));
  const auto page = store_->list({}, {});
  for (const auto& entry : page->entries) EXPECT_EQ(entry.info.size_bytes, 5u) << entry.name;
}

TEST_F(PosixStoreTest, NoLinkLeadsOut) {
  const TemporaryDirectory outside;
  std::ofstream(outside.path() / "secret") << "secret";
  make_file("inside", "x");
  fs::create_symlink(outside.path() / "secret", root() / "absolute");
  fs::create_symlink("../" + outside.path().filename().string() + "/secret", root() / "relative");
  fs::create_directory_symlink(outside.path(), root() / "directory");
  for (const char* name : {"absolute", "relative", "directory/secret"}) {
    EXPECT_TRUE(fails_with(store_->stat(name, {}), ErrorCode::kPermissionDenied)) << name;
    EXPECT_TRUE(fails_with(store_->open(name, {}, {}), ErrorCode::kPermissionDenied)) << name;
    EXPECT_TRUE(fails_with(store_->remove(name, {}, {}), ErrorCode::kPermissionDenied)) << name;
  }
  EXPECT_TRUE(fails_with(store_->create("directory/new", {}, {}), ErrorCode::kPermissionDenied));
  // They are listed all the same: who copies the tree is to know that something is left out.
  EXPECT_EQ(list(), (Names{"absolute", "directory", "inside", "relative"}));
  EXPECT_TRUE(fs::exists(outside.path() / "secret"));
}

TEST_F(PosixStoreTest, LinksInACircleEnd) {
  make_file("a/file", "x");
  fs::create_directory_symlink("..", root() / "a/up");
  fs::create_directory_symlink(".", root() / "self");
  fs::create_symlink("nowhere", root() / "dangling");
  fs::create_symlink("loop", root() / "loop");
  EXPECT_EQ(list(), (Names{"a/file", "dangling", "loop"}));
  ListRequest request;
  request.delimiter = "/";
  EXPECT_EQ(list(request), (Names{"dangling", "loop", "a/"}));  // prefixes last
  EXPECT_TRUE(fails_with(store_->stat("dangling", {}), ErrorCode::kNotFound));
}

TEST_F(PosixStoreTest, WritingOverALinkReplacesTheLink) {
  make_file("real", "real");
  fs::create_symlink("real", root() / "link");
  put("link", "new");
  EXPECT_EQ(*read_object(*store_, "real", {}), bytes_of("real"));
  EXPECT_EQ(*read_object(*store_, "link", {}), bytes_of("new"));
  EXPECT_FALSE(fs::is_symlink(root() / "link"));
}

TEST_F(PosixStoreTest, APipeIsNoObjectAndHoldsNobodyUp) {
  ASSERT_EQ(mkfifo((root() / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(fails_with(store_->open("pipe", {}, {}), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(store_->stat("pipe", {}), ErrorCode::kNotFound));
  EXPECT_EQ(list(), Names());
}

TEST_F(PosixStoreTest, ListsInTheByteOrderOfFullNames) {
  for (const char* name : {"a/b", "a.b", "a0", "a-b", "a/c/d", "a/c.d", "ab/x"}) put(name, "");
  const Names expected = {"a-b", "a.b", "a/b", "a/c.d", "a/c/d", "a0", "ab/x"};
  EXPECT_EQ(list(), expected);
  ListRequest request;
  request.limit = 1;
  EXPECT_EQ(list(request), expected);
}

TEST_F(PosixStoreTest, NoticesAFileThatShrinks) {
  make_file("file", std::string(1000, 'x'));
  const auto reader = store_->open("file", {}, {});
  ASSERT_TRUE(succeeds(reader));
  fs::resize_file(root() / "file", 10);
  std::vector<std::byte> target(1000);
  EXPECT_TRUE(fails_with((*reader)->read_at(0, target, {}), ErrorCode::kIoError));
}

TEST_F(PosixStoreTest, TheEtagChangesWithAChangeInPlace) {
  make_file("file", "one");
  const auto before = store_->stat("file", {});
  fs::last_write_time(root() / "file",
                      fs::file_time_type::clock::now() - std::chrono::seconds(100));
  const auto after = store_->stat("file", {});
  ASSERT_TRUE(succeeds(before));
  ASSERT_TRUE(succeeds(after));
  EXPECT_NE(before->etag, after->etag);
}

TEST_F(PosixStoreTest, WritersOutliveTheStore) {
  auto writer = store_->create("a/b", {}, {});
  ASSERT_TRUE(succeeds(writer));
  store_.reset();
  ASSERT_TRUE(succeeds((*writer)->append(bytes_of("x"), {})));
  ASSERT_TRUE(succeeds((*writer)->commit({}, {})));
  EXPECT_TRUE(fs::exists(root() / "a/b"));
}

TEST_F(PosixStoreTest, AMissingDirectoryIsNoStore) {
  EXPECT_TRUE(fails_with(open_posix_store((root() / "missing").string()), ErrorCode::kNotFound));
  make_file("file", "x");
  EXPECT_FALSE(open_posix_store((root() / "file").string()).ok());
}

class PosixUrlTest : public PosixStoreTest {
 protected:
  void SetUp() override {
    PosixStoreTest::SetUp();
    register_posix(registry_);
    make_file("data/file", "x");
  }

  Result<StoreLocation> open(const std::string& path, IfMissing if_missing = IfMissing::kFail) {
    return registry_.open("file://" + percent_encode(root().string() + path, "/"), if_missing);
  }

  void expect_opens(const std::string& path, IfMissing if_missing, const std::string& directory,
                    const std::string& name) {
    const auto location = open(path, if_missing);
    ASSERT_TRUE(succeeds(location)) << path;
    const std::string canonical = fs::canonical(root()).string();
    EXPECT_EQ(location->store->url(), "file://" + canonical + directory) << path;
    EXPECT_EQ(location->name, name) << path;
  }

  Registry registry_;
};

TEST_F(PosixUrlTest, LeadsToADirectoryOrANameInIt) {
  expect_opens("/data", IfMissing::kFail, "/data", "");
  expect_opens("/data/", IfMissing::kFail, "/data", "");
  expect_opens("/data/../data/.", IfMissing::kFail, "/data", "");
  expect_opens("/data/file", IfMissing::kFail, "/data", "file");
  expect_opens("/data/missing", IfMissing::kFail, "/data", "missing");
  expect_opens("/data/odd name%", IfMissing::kFail, "/data", "odd name%");
  EXPECT_TRUE(fails_with(open("/no/where"), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(open("/no/"), ErrorCode::kNotFound));
  EXPECT_TRUE(fails_with(open("/data/file/"), ErrorCode::kInvalidArgument));
}

TEST_F(PosixUrlTest, CreatesWhatEndsWithASlash) {
  expect_opens("/new/deep/", IfMissing::kCreate, "/new/deep", "");
  EXPECT_TRUE(fs::is_directory(root() / "new/deep"));
  expect_opens("/other/deep/name", IfMissing::kCreate, "", "other/deep/name");
  EXPECT_FALSE(fs::exists(root() / "other"));
}

TEST_F(PosixUrlTest, RefusesWhatMeansNothing) {
  for (const char* url : {"file://host/data", "file://", "file:///?size=1"}) {
    EXPECT_TRUE(fails_with(registry_.open(url, IfMissing::kFail), ErrorCode::kInvalidArgument))
        << url;
  }
  EXPECT_TRUE(succeeds(registry_.open("file://localhost/", IfMissing::kFail)));
  EXPECT_TRUE(succeeds(registry_.open(".", IfMissing::kFail)));
}

}  // namespace
}  // namespace leat
