// What the local store promises when things go wrong: power cuts at every call, failures of every
// call, and damage to every byte. The disk is simulated; the store is the real one.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "leat/base/random.h"
#include "leat/local/layout.h"
#include "leat/local/local_store.h"
#include "leat/local/testing/local_fixture.h"
#include "leat/store/testing/contract.h"

namespace leat::local {
namespace {

using leat::testing::Bytes;
using leat::testing::pattern_bytes;
using leat::testing::succeeds;
using testing::simulated_options;
using Fault = SimulatedFileSystem::Fault;

// A deterministic life of a store, and what it was promised.
class Workload {
 public:
  explicit Workload(std::uint64_t seed) : random_(seed) {}

  // Runs until the end or the first error that is not an answer. True at the end.
  bool run(SimulatedFileSystem& disk, int steps) {
    options_ = simulated_options(disk);
    auto created = LocalStore::create({"drive0"}, options_);
    if (!created.ok()) return false;
    store_ = *created;
    if (!store_->create_bucket("data", {}, {}).ok()) return false;
    has_bucket_ = true;
    for (int i = 0; i < steps; ++i) {
      if (!step(i)) return false;
    }
    return store_->close({}).ok();
  }

  // After a restart: everything acknowledged is there, whole; what was under way is old or new.
  void expect_kept(SimulatedFileSystem& disk) {
    store_.reset();
    if (!has_bucket_) return;
    // A drive that was being added may not be one yet.
    std::vector<std::string> drives;
    for (const std::string& directory : directories_) {
      const auto is_drive = LocalStore::is_drive(directory, simulated_options(disk));
      ASSERT_TRUE(succeeds(is_drive));
      if (*is_drive) drives.push_back(directory);
    }
    auto opened = LocalStore::open(drives, simulated_options(disk));
    if (opened.failed_with(ErrorCode::kInvalidArgument) && !leaving_.empty()) {
      std::erase(drives, leaving_);  // it has left
      opened = LocalStore::open(drives, simulated_options(disk));
    }
    ASSERT_TRUE(succeeds(opened));
    store_ = *opened;
    const auto bucket = store_->bucket("data");
    ASSERT_TRUE(succeeds(bucket));
    std::size_t visible = 0;
    for (const auto& [name, expected] : acknowledged_) {
      const auto bytes = read_object(**bucket, name, {});
      const bool uncertain = under_way_ && under_way_->first == name;
      if (!bytes.ok()) {
        ASSERT_TRUE(bytes.failed_with(ErrorCode::kNotFound))
            << name << ": " << bytes.error().message();
        ASSERT_TRUE(!expected || (uncertain && !under_way_->second)) << name << " is lost";
        continue;
      }
      ++visible;
      ASSERT_TRUE(*bytes == expected || (uncertain && *bytes == under_way_->second))
          << name << " is wrong";
    }
    ListRequest request;
    request.limit = 10'000;
    const auto page = (*bucket)->list(request, {});
    ASSERT_TRUE(succeeds(page));
    std::size_t known = 0;
    for (const auto& entry : page->entries) known += acknowledged_.contains(entry.name) ? 1 : 0;
    EXPECT_EQ(known, visible);
    // A name that was first written under way may be there too, and nothing else.
    EXPECT_LE(page->entries.size() - known, 1u);
    const auto report = store_->verify({}, {});
    ASSERT_TRUE(succeeds(report));
    for (const auto& damaged : report->damaged)
      ADD_FAILURE() << damaged.name << ": " << damaged.what;
    // And it goes on.
    ASSERT_TRUE(succeeds(write_object(**bucket, "after", pattern_bytes(100, 1), {}, {})));
    ASSERT_TRUE(succeeds(store_->compact({})));
    for (const auto& [name, expected] : acknowledged_) {
      if (expected && !(under_way_ && under_way_->first == name)) {
        ASSERT_EQ(*read_object(**bucket, name, {}), *expected) << name << " after compaction";
      }
    }
  }
  void stop() { store_.reset(); }

 private:
  bool step(int i) {
    auto bucket = store_->bucket("data");
    if (!bucket.ok()) return false;
    const std::string name = "n" + std::to_string(random_.uniform(12));
    switch (random_.uniform(16)) {
      case 0:
      case 1:
        return change(name, std::nullopt, [&] {
          const auto status = (*bucket)->remove(name, {}, {});
          return status.ok() || status.failed_with(ErrorCode::kNotFound);
        });
      case 2: {
        const auto worked = store_->maintain({});
        return worked.ok();
      }
      case 3:
        return store_->compact({}).ok();
      case 4: {
        const std::string source = "n" + std::to_string(random_.uniform(12));
        const auto it = acknowledged_.find(source);
        if (it == acknowledged_.end() || !it->second) return true;
        const Bytes bytes = *it->second;
        return change(name, bytes, [&] { return (*bucket)->copy(source, name, {}, {}).ok(); });
      }
      case 5:
        if (i % 3 == 0 && directories_.size() < 3) {
          directories_.push_back("drive" + std::to_string(++drives_made_));
          return store_->add_drive(directories_.back(), {}).ok();
        }
        return store_->maintain({}).ok();
      case 7:
        if (i % 3 == 0 && directories_.size() > 1) {
          leaving_ = directories_[random_.uniform(directories_.size())];
          if (!store_->remove_drive(leaving_, {}).ok()) return false;
          std::erase(directories_, leaving_);
          return true;
        }
        return store_->settle({}).ok();
      case 6:
        if (i % 4 == 0) return reopen();
        [[fallthrough]];
      default: {
        const std::size_t size =
            random_.uniform(8) == 0 ? 4097 + random_.uniform(6000) : random_.uniform(900);
        const Bytes bytes = pattern_bytes(size, random_.next());
        return change(name, bytes,
                      [&] { return write_object(**bucket, name, bytes, {}, {}).ok(); });
      }
    }
  }

  bool reopen() {
    const bool closed = store_->close({}).ok();
    store_.reset();
    if (!closed) return false;
    auto opened = LocalStore::open(directories_, options_);
    if (!opened.ok()) return false;
    store_ = *opened;
    return true;
  }

  template <typename Act>
  bool change(const std::string& name, std::optional<Bytes> value, Act act) {
    under_way_.emplace(name, value);
    if (!act()) return false;
    acknowledged_[name] = std::move(value);
    under_way_.reset();
    return true;
  }

  Random random_;
  StoreOptions options_;
  std::vector<std::string> directories_{"drive0"};
  int drives_made_ = 0;
  std::string leaving_;
  std::shared_ptr<LocalStore> store_;
  bool has_bucket_ = false;
  std::map<std::string, std::optional<Bytes>> acknowledged_;  // nothing: removed
  std::optional<std::pair<std::string, std::optional<Bytes>>> under_way_;
};

// LEAT_STORM=n makes the workloads n times as many, each twice as long (make test-deep).
int storm() {
  const char* text = getenv("LEAT_STORM");
  return text == nullptr ? 0 : atoi(text);
}
int steps() {
  return storm() > 0 ? 120 : 60;
}

// Stops the machine at every n-th call, in three ways.
class PowerCutTest : public ::testing::Test {
 protected:
  void cut_everywhere(std::uint64_t seed);
};

void PowerCutTest::cut_everywhere(std::uint64_t seed) {
  for (std::uint64_t n = 0;; ++n) {
    SimulatedFileSystem disk;
    disk.cut_at_call(n);
    Workload workload(seed);
    const bool finished = workload.run(disk, steps());
    workload.stop();
    switch (n % 3) {
      case 0:
        disk.power_cut(n);
        break;
      case 1:
        disk.power_cut(PowerCut::Unsynced::kLost);
        break;
      default:
        disk.power_cut(PowerCut::Unsynced::kKept);
        break;
    }
    workload.expect_kept(disk);
    if (HasFatalFailure() || HasNonfatalFailure())
      FAIL() << "cut at call " << n << ", seed " << seed;
    if (finished) break;
  }
}

TEST_F(PowerCutTest, EveryAcknowledgedObjectIsWhole) {
  const std::uint64_t seeds = 3 + 3 * static_cast<std::uint64_t>(storm());
  for (std::uint64_t seed = 1; seed <= seeds && !HasFatalFailure(); ++seed) cut_everywhere(seed);
}

// Fails the n-th call, once or from then on; whatever was acknowledged is there after a restart.
class FailedCallTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FailedCallTest, EveryAcknowledgedObjectIsWhole) {
  for (std::uint64_t n = 0;; ++n) {
    SimulatedFileSystem disk;
    disk.fail_call(n, GetParam());
    Workload workload(7);
    const bool finished = workload.run(disk, steps());
    workload.stop();
    const bool failed = disk.failed_calls() > 0;
    disk.clear_faults();
    if (n % 2 == 0) disk.power_cut(n);
    workload.expect_kept(disk);
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "failed call " << n;
    if (finished && !failed) break;
  }
}
INSTANTIATE_TEST_SUITE_P(Faults, FailedCallTest,
                         ::testing::Values(Fault{Fault::Kind::kIoError, Fault::Lasts::kOnce,
                                                 SimulatedFileSystem::Calls::kAny},
                                           Fault{Fault::Kind::kIoError, Fault::Lasts::kForever,
                                                 SimulatedFileSystem::Calls::kMutating},
                                           Fault{Fault::Kind::kNoSpace, Fault::Lasts::kForever,
                                                 SimulatedFileSystem::Calls::kMutating},
                                           Fault{Fault::Kind::kShortWrite, Fault::Lasts::kOnce,
                                                 SimulatedFileSystem::Calls::kMutating}));

}  // namespace
}  // namespace leat::local
