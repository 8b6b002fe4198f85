// kill -9 of a process that writes to a local store, at random instants, again and again, on a real
// directory. What it acknowledged before it died must be there, whole; what it was doing is done or
// not, never half; and the space of everything else comes back.
//
// LEAT_KILLS=n sets how often (make test-deep).
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include "leat/base/random.h"
#include "leat/local/layout.h"
#include "leat/local/local_store.h"
#include "leat/local/testing/local_fixture.h"
#include "leat/shard/shard_writer.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

namespace fs = std::filesystem;
using leat::testing::Bytes;
using leat::testing::pattern_bytes;
using leat::testing::succeeds;

constexpr int kThreads = 8;
constexpr int kNamesOfAThread = 7;  // the last one is a shard
constexpr std::size_t kMostDrives = 3;
constexpr std::uint64_t kSmallObjectBytes = 4096;
constexpr std::uint64_t kPackBytes = 64 << 10;
constexpr std::string_view kBucket = "data";

// What a name stands for; the bytes are a function of it.
struct Value {
  enum class Shape : std::uint8_t { kAbsent, kBytes, kShard };
  Shape shape = Shape::kAbsent;
  std::uint64_t seed = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const Value&) const = default;
};

// What the writer tells: sent with one write() each, so a message is whole or not there.
struct Message {
  enum class Kind : std::uint8_t { kReady, kBegun, kDone, kFailed };
  Kind kind = Kind::kReady;
  std::uint8_t thread = 0;
  std::uint8_t name = 0;
  Value value;
  std::array<char, 160> what{};
};

// By thread and number of the name.
using State = std::array<std::array<Value, kNamesOfAThread>, kThreads>;

bool is_shard_name(int name) {
  return name == kNamesOfAThread - 1;
}

std::string name_of(int thread, int name) {
  return std::to_string(thread) + "/" + std::to_string(name) + (is_shard_name(name) ? ".tar" : "");
}

// Gathers an archive in memory.
class MemoryTarget final : public ObjectWriter {
 public:
  explicit MemoryTarget(Bytes& bytes) : bytes_(bytes) {}
  Status append(std::span<const std::byte> bytes, const Context&) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return ok_status();
  }
  Result<ObjectInfo> commit(const CommitOptions&, const Context&) override { return ObjectInfo(); }

 private:
  Bytes& bytes_;
};

constexpr std::array<std::string_view, 3> kMembers{"a", "b/c", "d"};

Bytes member_bytes(const Value& shard, std::size_t member) {
  return pattern_bytes(shard.size_bytes / (member + 1), shard.seed + member);
}

Bytes bytes_of(const Value& value) {
  if (value.shape == Value::Shape::kBytes) return pattern_bytes(value.size_bytes, value.seed);
  Bytes archive;
  ShardWriter shard(std::make_unique<MemoryTarget>(archive));
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    EXPECT_TRUE(succeeds(shard.add({kMembers[i]}, member_bytes(value, i), {})));
  }
  EXPECT_TRUE(succeeds(shard.finish({})));
  return archive;
}

StoreOptions kill_options(StoreOptions::Upkeep upkeep) {
  StoreOptions options = testing::small_options();
  options.small_object_bytes = kSmallObjectBytes;
  options.drive.log.pack_bytes = kPackBytes;
  options.drive.catalogue.flush_entries = 32;
  options.upkeep = upkeep;
  return options;
}

std::vector<std::string> directories(const std::string& root) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < kMostDrives; ++i) all.push_back(root + "/drive" + std::to_string(i));
  return all;
}

Result<std::shared_ptr<LocalStore>> open_store(const std::string& root,
                                               StoreOptions::Upkeep upkeep) {
  const StoreOptions options = kill_options(upkeep);
  std::vector<std::string> drives;
  for (const std::string& directory : directories(root)) {
    ASSIGN_OR_RETURN(const bool is_drive, LocalStore::is_drive(directory, options));
    if (is_drive) drives.push_back(directory);
  }
  return LocalStore::open(drives, options);
}

// The process that will be killed.
class Writer {
 public:
  Writer(std::string root, const State& state, std::uint64_t seed, int pipe)
      : root_(std::move(root)), state_(state), seed_(seed), pipe_(pipe) {}

  [[noreturn]] void run() {
    auto store = open_store(root_, StoreOptions::Upkeep::kInBackground);
    if (!store.ok()) fail(store.error());
    store_ = *store;
    auto bucket = store_->bucket(kBucket);
    if (!bucket.ok()) fail(bucket.error());
    bucket_ = *bucket;
    tell({});
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([this, i] { work(i); });
    threads.clear();
    _exit(1);
  }

 private:
  void tell(const Message& message) {
    if (write(pipe_, &message, sizeof message) != sizeof message) _exit(1);
  }
  [[noreturn]] void fail(const Error& error) {
    Message message;
    message.kind = Message::Kind::kFailed;
    const std::string_view text = error.message();
    std::memcpy(message.what.data(), text.data(), std::min(text.size(), message.what.size() - 1));
    tell(message);
    _exit(1);
  }

  void work(int thread) {
    Random random(seed_ * kThreads + static_cast<std::uint64_t>(thread));
    for (;;) {
      if (thread == 0 && random.uniform(64) == 0) change_store(random);
      const int name = static_cast<int>(random.uniform(kNamesOfAThread));
      change_object(thread, name, random);
    }
  }

  void change_store(Random& random) {
    Status status = ok_status();
    if (random.uniform(4) == 0) {
      const auto drives = store_->drives();
      if (drives.ok() && drives->size() < kMostDrives) {
        status = store_->add_drive(directories(root_)[drives->size()], {});
      }
      // A directory that an earlier attempt left half made.
      if (status.failed_with(ErrorCode::kInvalidArgument)) return;
    } else {
      status = store_->compact({});
    }
    if (!status.ok()) fail(status.error());
  }

  void change_object(int thread, int name, Random& random) {
    Value& current = state_[static_cast<std::size_t>(thread)][static_cast<std::size_t>(name)];
    const std::size_t other = random.uniform(kNamesOfAThread - 1);
    const Value source = state_[static_cast<std::size_t>(thread)][other];
    const std::uint64_t choice = random.uniform(8);
    const bool removes = choice == 0 && current.shape != Value::Shape::kAbsent;
    const bool copies =
        choice == 1 && source.shape != Value::Shape::kAbsent && !is_shard_name(name);
    Value value;
    if (copies) {
      value = source;
    } else if (!removes) {
      value.shape = is_shard_name(name) ? Value::Shape::kShard : Value::Shape::kBytes;
      value.seed = random.next();
      value.size_bytes = random.uniform(random.uniform(3) == 0 ? 20'000 : 900);
    }
    const Durability durability = random.uniform(2) == 0 ? Durability::kMemory : Durability::kDisk;
    Message message{Message::Kind::kBegun,
                    static_cast<std::uint8_t>(thread),
                    static_cast<std::uint8_t>(name),
                    value,
                    {}};
    tell(message);
    const Status status =
        copies ? copy(name_of(thread, static_cast<int>(other)), name_of(thread, name), durability)
               : put(name_of(thread, name), value, durability);
    if (!status.ok()) fail(status.error());
    current = value;
    message.kind = Message::Kind::kDone;
    tell(message);
  }

  Status copy(const std::string& source, const std::string& target, Durability durability) {
    CreateOptions options;
    options.durability = durability;
    RETURN_IF_ERROR(bucket_->copy(source, target, options, {}));
    return ok_status();
  }

  Status put(const std::string& name, const Value& value, Durability durability) {
    if (value.shape == Value::Shape::kAbsent) {
      RemoveOptions options;
      options.durability = durability;
      return bucket_->remove(name, options, {});
    }
    CreateOptions options;
    options.durability = durability;
    RETURN_IF_ERROR(write_object(*bucket_, name, bytes_of(value), options, {}));
    return ok_status();
  }

  const std::string root_;
  State state_;
  const std::uint64_t seed_;
  const int pipe_;
  std::shared_ptr<LocalStore> store_;
  std::shared_ptr<ObjectStore> bucket_;
};

class KillTest : public ::testing::Test {
 protected:
  void start_afresh();
  void kill_once(std::uint64_t number);
  void check(std::uint64_t number);
  void finish();
  std::uint64_t done() const { return done_; }  // changes that were acknowledged

 private:
  void listen(int pipe, pid_t writer, Random& random);
  void hear(const Message& message);
  void check_name(ObjectStore& bucket, int thread, int name);
  bool is_there(ObjectStore& bucket, const std::string& name, const Value& value);
  void check_listing(ObjectStore& bucket);
  enum class When : std::uint8_t { kBeforeRecovery, kAfterRecovery };
  void check_tars(When when);
  void check_temporary();
  void check_space();

  std::optional<testing::TemporaryDirectory> root_;
  State state_;
  std::array<std::optional<std::pair<int, Value>>, kThreads> under_way_;
  std::uint64_t done_ = 0;
  bool is_ready_ = false;
};

void KillTest::start_afresh() {
  root_.emplace();
  state_ = {};
  for (const std::string& directory : directories(root_->path())) fs::create_directory(directory);
  auto store = LocalStore::create({directories(root_->path())[0]},
                                  kill_options(StoreOptions::Upkeep::kWhenAsked));
  ASSERT_TRUE(succeeds(store));
  ASSERT_TRUE(succeeds((*store)->create_bucket(kBucket, {}, {})));
  ASSERT_TRUE(succeeds((*store)->close({})));
}

void KillTest::kill_once(std::uint64_t number) {
  Random random(number);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  under_way_ = {};
  is_ready_ = false;
  const pid_t writer = fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    close(ends[0]);
    Writer(root_->path(), state_, number, ends[1]).run();
  }
  close(ends[1]);
  listen(ends[0], writer, random);
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the writer ended by itself";
}

// Hears the writer, kills it when its time has come, and hears what it said before.
void KillTest::listen(int pipe, pid_t writer, Random& random) {
  using Clock = std::chrono::steady_clock;
  // Every fourth does not live to be ready.
  std::optional<Clock::time_point> end;
  if (random.uniform(4) == 0) end = Clock::now() + std::chrono::microseconds(random.uniform(8'000));
  const auto life = std::chrono::microseconds(random.uniform(50'000));
  bool is_killed = false;
  for (;;) {
    const auto now = Clock::now();
    if (!end && is_ready_) end = now + life;
    if (!is_killed && end && now >= *end) {
      kill(writer, SIGKILL);
      is_killed = true;
    }
    // A writer that is stuck would never become ready; ctest's limit ends the test then.
    int wait_ms = 1000;
    if (end && !is_killed)
      wait_ms = 1 + static_cast<int>((*end - now) / std::chrono::milliseconds(1));
    pollfd waiting{pipe, POLLIN, 0};
    if (poll(&waiting, 1, wait_ms) <= 0) continue;
    Message message;
    if (read(pipe, &message, sizeof message) != sizeof message) return;
    hear(message);
  }
}

void KillTest::hear(const Message& message) {
  const std::size_t thread = message.thread;
  switch (message.kind) {
    case Message::Kind::kReady:
      is_ready_ = true;
      return;
    case Message::Kind::kBegun:
      under_way_[thread].emplace(message.name, message.value);
      return;
    case Message::Kind::kDone:
      state_[thread][message.name] = message.value;
      under_way_[thread].reset();
      ++done_;
      return;
    case Message::Kind::kFailed:
      ADD_FAILURE() << "the writer: " << message.what.data();
  }
}

bool KillTest::is_there(ObjectStore& bucket, const std::string& name, const Value& value) {
  const auto read = read_object(bucket, name, {});
  if (value.shape == Value::Shape::kAbsent) return read.failed_with(ErrorCode::kNotFound);
  EXPECT_TRUE(read.ok() || read.failed_with(ErrorCode::kNotFound))
      << name << ": " << read.error().message();
  if (!read.ok() || *read != bytes_of(value)) return false;
  if (value.shape != Value::Shape::kShard) return true;
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    const auto member = read_object(bucket, name + "/" + std::string(kMembers[i]), {});
    EXPECT_TRUE(succeeds(member)) << name << "/" << kMembers[i];
    EXPECT_TRUE(member.ok() && *member == member_bytes(value, i)) << name << "/" << kMembers[i];
  }
  return true;
}

// Old or new, whole; from here on it is what it is.
void KillTest::check_name(ObjectStore& bucket, int thread, int name) {
  Value& known = state_[static_cast<std::size_t>(thread)][static_cast<std::size_t>(name)];
  const auto& pending = under_way_[static_cast<std::size_t>(thread)];
  const std::string object = name_of(thread, name);
  if (is_there(bucket, object, known)) return;
  if (pending && pending->first == name && is_there(bucket, object, pending->second)) {
    known = pending->second;
    return;
  }
  ADD_FAILURE() << object << " is not what was acknowledged";
}

void KillTest::check_listing(ObjectStore& bucket) {
  ListRequest request;
  request.limit = 10'000;
  const auto page = bucket.list(request, {});
  ASSERT_TRUE(succeeds(page));
  std::map<std::string, std::uint64_t> listed;
  for (const auto& entry : page->entries) listed[entry.name] = entry.info.size_bytes;
  std::map<std::string, std::uint64_t> expected;
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int name = 0; name < kNamesOfAThread; ++name) {
      const Value& value = state_[static_cast<std::size_t>(thread)][static_cast<std::size_t>(name)];
      if (value.shape == Value::Shape::kAbsent) continue;
      expected[name_of(thread, name)] = bytes_of(value).size();
    }
  }
  EXPECT_EQ(listed, expected);
}

// Every pack is an archive that tar reads: without complaint after a recovery. Before it, tar may
// remark on the zeros where the first header of a group was to be, and a pack may have no byte yet.
void KillTest::check_tars(When when) {
  const bool is_strict = when == When::kAfterRecovery;
  const std::string command =
      "for pack in '" + root_->path().string() + "'/drive*/packs/*.tar; do [ " +
      (is_strict ? "-e" : "-s") + " \"$pack\" ] || continue; " + "LC_ALL=C tar tf \"$pack\" " +
      (is_strict ? "2>&1 >/dev/null" : ">/dev/null 2>&1") + " || echo \"$pack\"; done";
  FILE* const output = popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  std::array<char, 4096> text{};
  const std::size_t count = fread(text.data(), 1, text.size() - 1, output);
  pclose(output);
  EXPECT_EQ(std::string(text.data(), count), "")
      << (is_strict ? "after recovery" : "before recovery");
}

void KillTest::check_temporary() {
  for (const std::string& directory : directories(root_->path())) {
    const fs::path temporary = fs::path(directory) / kTemporaryDirectory;
    EXPECT_TRUE(!fs::exists(temporary) || fs::is_empty(temporary)) << temporary;
  }
}

void KillTest::check(std::uint64_t number) {
  const bool looks_closely = number % 20 == 0;
  if (looks_closely) check_tars(When::kBeforeRecovery);
  const auto store = open_store(root_->path(), StoreOptions::Upkeep::kWhenAsked);
  ASSERT_TRUE(succeeds(store));
  check_temporary();
  if (looks_closely) check_tars(When::kAfterRecovery);
  const auto bucket = (*store)->bucket(kBucket);
  ASSERT_TRUE(succeeds(bucket));
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int name = 0; name < kNamesOfAThread; ++name) check_name(**bucket, thread, name);
  }
  check_listing(**bucket);
  if (looks_closely) {
    const auto report = (*store)->verify({}, {});
    ASSERT_TRUE(succeeds(report));
    for (const auto& damaged : report->damaged) {
      // An index is made before its shard; if that never came, verify() says so and mends it.
      if (!damaged.name.ends_with(".tar")) ADD_FAILURE() << damaged.name << ": " << damaged.what;
    }
  }
  // Every other time it dies as it is: recovery upon recovery.
  if (number % 2 == 0) {
    EXPECT_TRUE(succeeds((*store)->close({})));
  }
}

void KillTest::finish() {
  const auto store = open_store(root_->path(), StoreOptions::Upkeep::kWhenAsked);
  ASSERT_TRUE(succeeds(store));
  ASSERT_TRUE(succeeds((*store)->settle({})));
  VerifyOptions options;
  options.repair = true;
  const auto report = (*store)->verify(options, {});
  ASSERT_TRUE(succeeds(report));
  for (const auto& damaged : report->damaged) {
    EXPECT_TRUE(damaged.repaired) << damaged.name << ": " << damaged.what;
  }
  ASSERT_TRUE(succeeds((*store)->compact({})));
  const auto again = (*store)->verify({}, {});
  ASSERT_TRUE(succeeds(again));
  EXPECT_TRUE(again->damaged.empty());
  check_listing(**(*store)->bucket(kBucket));
  check_space();
  ASSERT_TRUE(succeeds((*store)->close({})));
}

std::uint64_t bytes_beneath(const fs::path& directory) {
  std::uint64_t total = 0;
  if (!fs::exists(directory)) return total;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) total += entry.file_size();
  }
  return total;
}

// Nothing is left of what was overwritten, removed or never finished.
void KillTest::check_space() {
  std::uint64_t small = 0;
  std::uint64_t large = 0;
  for (const auto& names : state_) {
    for (const Value& value : names) {
      if (value.shape == Value::Shape::kAbsent) continue;
      const std::uint64_t size_bytes = bytes_of(value).size();
      (size_bytes > kSmallObjectBytes ? large : small) += size_bytes;
    }
  }
  std::uint64_t packs = 0;
  std::uint64_t files = 0;
  for (const std::string& directory : directories(root_->path())) {
    packs += bytes_beneath(fs::path(directory) / kPackDirectory);
    files += bytes_beneath(fs::path(directory) / kObjectDirectory);
  }
  EXPECT_LE(files, large);
  // A record, or a tombstone, of each name and index, and the room ahead of each log.
  constexpr std::uint64_t kOverheadBytes = 4096;
  const std::uint64_t records = kMostDrives * 2 * kThreads * kNamesOfAThread;
  EXPECT_LE(packs, small + records * kOverheadBytes + kMostDrives * kPackBytes);
}

TEST_F(KillTest, WhatWasAcknowledgedIsThere) {
  const char* const text = getenv("LEAT_KILLS");
  const std::uint64_t kills = text == nullptr ? 300 : std::strtoull(text, nullptr, 10);
  constexpr std::uint64_t kKillsOfALife = 100;
  for (std::uint64_t number = 0; number < kills; ++number) {
    if (number % kKillsOfALife == 0) start_afresh();
    kill_once(number);
    check(number);
    if (number + 1 == kills || (number + 1) % kKillsOfALife == 0) finish();
    if (HasFailure()) FAIL() << "kill " << number;
  }
  // Otherwise nothing was tested.
  EXPECT_GT(done(), kills);
}

}  // namespace
}  // namespace leat::local
