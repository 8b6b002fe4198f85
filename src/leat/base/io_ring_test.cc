#include "leat/base/io_ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

#include "leat/base/testing/refused_system_call.h"

namespace leat {
namespace {

constexpr std::size_t kFileBytes = 1 << 20;

std::byte byte_at(std::size_t offset) {
  return static_cast<std::byte>(offset * 2654435761u >> 13);
}

class IoRingTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ring = IoRing::create(8);
    if (ring.failed_with(ErrorCode::kUnsupported)) GTEST_SKIP() << ring.error().message();
    ASSERT_TRUE(ring.ok()) << ring.error().message();
    ring_ = *std::move(ring);
    std::vector<std::byte> bytes(kFileBytes);
    for (std::size_t offset = 0; offset < bytes.size(); ++offset) bytes[offset] = byte_at(offset);
    ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file_.get()), bytes.size());
    ASSERT_EQ(std::fflush(file_.get()), 0);
  }

  int descriptor() const { return ::fileno(file_.get()); }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_{std::tmpfile()};
  std::unique_ptr<IoRing> ring_;
  Context context_;
};

TEST_F(IoRingTest, ReadsMoreThanItsDepthAtOnce) {
  constexpr std::size_t kReads = 500;
  constexpr std::size_t kBytes = 777;
  std::vector<std::byte> buffer(kReads * kBytes);
  std::vector<IoRing::Read> reads(kReads);
  for (std::size_t index = 0; index < kReads; ++index) {
    reads[index].descriptor = descriptor();
    reads[index].offset = (index * 7919) % (kFileBytes - kBytes);
    reads[index].target = std::span(buffer).subspan(index * kBytes, kBytes);
  }
  ring_->read_all(reads, context_);
  for (const IoRing::Read& read : reads) {
    ASSERT_TRUE(read.result.ok());
    ASSERT_EQ(*read.result, kBytes);
    for (std::size_t index = 0; index < kBytes; ++index) {
      ASSERT_EQ(read.target[index], byte_at(read.offset + index));
    }
  }
}

TEST_F(IoRingTest, StopsAtTheEndOfTheFile) {
  std::array<std::byte, 100> across;
  std::array<std::byte, 100> past;
  std::array<IoRing::Read, 3> reads;
  reads[0] = {.descriptor = descriptor(), .offset = kFileBytes - 10, .target = across};
  reads[1] = {.descriptor = descriptor(), .offset = kFileBytes + 10, .target = past};
  reads[2] = {.descriptor = descriptor(), .offset = 0, .target = {}};
  ring_->read_all(reads, context_);
  EXPECT_EQ(*reads[0].result, 10u);
  EXPECT_EQ(across[9], byte_at(kFileBytes - 1));
  EXPECT_EQ(*reads[1].result, 0u);
  EXPECT_EQ(*reads[2].result, 0u);
}

TEST_F(IoRingTest, ContinuesShortReads) {
  // A pipe gives what is in it: the rest comes with the second write.
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t writer = ::fork();
  if (writer == 0) {
    bool written = ::write(ends[1], "first ", 6) == 6;
    ::usleep(20'000);
    written = ::write(ends[1], "second", 6) == 6 && written;
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::array<std::byte, 12> target;
  std::array<IoRing::Read, 1> reads;
  reads[0] = {.descriptor = ends[0], .offset = 0, .target = target};
  ring_->read_all(reads, context_);
  ASSERT_TRUE(reads[0].result.ok()) << reads[0].result.error().message();
  EXPECT_EQ(*reads[0].result, target.size());
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(target.data()), target.size()),
            "first second");
  ::close(ends[0]);
  ::waitpid(writer, nullptr, 0);
}

TEST_F(IoRingTest, OneFailureDoesNotStopTheOthers) {
  std::array<std::byte, 16> good;
  std::array<std::byte, 16> bad;
  std::array<IoRing::Read, 3> reads;
  reads[0] = {.descriptor = -1, .offset = 0, .target = bad};
  reads[1] = {.descriptor = descriptor(), .offset = 5, .target = good};
  reads[2] = {.descriptor = descriptor(),
              .offset = std::numeric_limits<std::uint64_t>::max(),
              .target = bad};
  ring_->read_all(reads, context_);
  EXPECT_TRUE(reads[0].result.failed_with(ErrorCode::kIoError));
  ASSERT_TRUE(reads[1].result.ok());
  EXPECT_EQ(good[15], byte_at(20));
  EXPECT_TRUE(reads[2].result.failed_with(ErrorCode::kInvalidArgument));
}

TEST_F(IoRingTest, BeginsNothingForACancelledCaller) {
  std::stop_source source;
  source.request_stop();
  std::array<std::byte, 16> target;
  std::array<IoRing::Read, 1> reads;
  reads[0] = {.descriptor = descriptor(), .offset = 0, .target = target};
  ring_->read_all(reads, context_.with_cancellation(source.get_token()));
  EXPECT_TRUE(reads[0].result.failed_with(ErrorCode::kCancelled));
}

TEST_F(IoRingTest, AForkedChildMakesItsOwn) {
  std::array<std::byte, 16> target;
  std::array<IoRing::Read, 1> reads;
  reads[0] = {.descriptor = descriptor(), .offset = 0, .target = target};
  const pid_t child = ::fork();
  if (child == 0) {
    ring_->read_all(reads, context_);
    if (!reads[0].result.failed_with(ErrorCode::kUnavailable)) ::_exit(1);
    ring_ = nullptr;
    auto own = IoRing::create(4);
    if (!own.ok()) ::_exit(2);
    (*own)->read_all(reads, context_);
    ::_exit(reads[0].result.ok() && target[3] == byte_at(3) ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  // The child closed its share; ours works on.
  ring_->read_all(reads, context_);
  EXPECT_TRUE(reads[0].result.ok());
}

TEST(IoRing, RefusesADepthThatIsNone) {
  EXPECT_TRUE(IoRing::create(0).failed_with(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(IoRing::create(1u << 20).failed_with(ErrorCode::kInvalidArgument));
}

TEST(IoRingDeathTest, IsUnsupportedWhereTheSystemForbidsIt) {
  for (const int reason : {ENOSYS, EPERM}) {
    EXPECT_EXIT(
        {
          if (!refuse_system_call(SYS_io_uring_setup, reason)) ::_exit(1);
          ::_exit(IoRing::create(8).failed_with(ErrorCode::kUnsupported) ? 0 : 2);
        },
        testing::ExitedWithCode(0), "");
  }
}

// An exit status: 0 when a ring whose system calls fail says so, now and later.
int use_broken_ring() {
  auto ring = IoRing::create(8);
  if (ring.failed_with(ErrorCode::kUnsupported)) return 0;
  if (!refuse_system_call(SYS_io_uring_enter, EBADF)) return 1;
  std::array<std::byte, 16> target;
  std::array<IoRing::Read, 20> reads;
  for (IoRing::Read& read : reads) read = {.descriptor = 0, .offset = 0, .target = target};
  (*ring)->read_all(reads, Context());
  for (const IoRing::Read& read : reads) {
    if (!read.result.failed_with(ErrorCode::kUnavailable)) return 2;
  }
  (*ring)->read_all(std::span(reads).first(1), Context());
  return reads[0].result.failed_with(ErrorCode::kUnavailable) ? 0 : 3;
}

TEST(IoRingDeathTest, ABrokenRingSaysSo) {
  EXPECT_EXIT(::_exit(use_broken_ring()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace leat
