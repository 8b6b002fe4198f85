// read_batch(): a list in one request, the answer in one stream.
#include <algorithm>
#include <array>
#include <vector>

#include "leat/drivers/leat/frame_reader.h"
#include "leat/drivers/leat/object_requests.h"
#include "leat/wire/batch.h"

namespace leat::leat_driver {
namespace {

using http::ClientConnection;
using http::ClientRequest;

// Names of kMaxNameBytes each stay within the limit of a list.
constexpr std::size_t kMostItems = wire::kMaxBatchBytes / (kMaxNameBytes + 64);
static_assert(kMostItems < wire::kMaxBatchItems);

class Batch {
 public:
  Batch(LeatServer& server, std::string_view bucket, std::vector<BatchRead*> reads,
        const Context& context)
      : server_(server), bucket_(bucket), left_(std::move(reads)), context_(context) {}

  void run() {
    while (!left_.empty()) {
      const std::size_t before = left_.size();
      const Status status = ask();
      if (status.ok()) continue;
      // A stream that breaks off is taken up where it ended; one that never gets anywhere is not.
      const bool is_hopeful = status.failed_with(ErrorCode::kUnavailable) && left_.size() < before;
      if (is_hopeful) continue;
      for (BatchRead* read : left_) read->result = status.error();
      return;
    }
  }

 private:
  // Asks for what is left, or as much of it as a list may hold.
  Status ask() {
    const std::size_t count = std::min(left_.size(), kMostItems);
    const std::string list = list_of(count);
    ClientRequest request;
    request.method = "POST";
    request.path = "/leat/v1/batch";
    request.headers = {{"content-type", std::string(wire::kBatchType)},
                       {std::string(wire::kRequestHeader), "1"}};
    request.body = std::as_bytes(std::span(list));
    std::size_t done = 0;
    std::optional<Error> broken;
    Status status = server_.ask(request, context_, [&](ClientConnection& answer) -> Status {
      done = 0;
      Status taken = take(answer, count, done);
      if (taken.ok() || done == 0) return taken;
      // Not to be repeated as a whole: some results are there.
      broken = taken.error();
      return ErrorCode::kIoError;
    });
    left_.erase(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(done));
    if (broken) return *broken;
    return status;
  }

  Status take(ClientConnection& answer, std::size_t count, std::size_t& done) {
    if (answer.head().header("content-type") != wire::kFramesType) {
      return Error(ErrorCode::kCorrupted, "the answer to the batch is of another type");
    }
    FrameReader frames(
        [&](std::span<std::byte> target) { return answer.read_all(target, context_); });
    RETURN_IF_ERROR(frames.begin(count));
    while (done < count) {
      RETURN_IF_ERROR(frames.next(*left_[done]));
      ++done;
    }
    return ok_status();
  }

  std::string list_of(std::size_t count) const {
    std::string list;
    const std::array<std::string_view, 1> buckets{bucket_};
    wire::begin_batch_list(list, count, buckets);
    for (std::size_t i = 0; i < count; ++i) {
      const BatchRead& read = *left_[i];
      wire::BatchItem item{read.name, read.range, 0};
      if (!read.target.empty()) {
        item.range.length = std::min<std::uint64_t>(item.range.length, read.target.size());
      }
      wire::append_batch_item(list, item);
    }
    return list;
  }

  LeatServer& server_;
  const std::string_view bucket_;
  std::vector<BatchRead*> left_;  // in the asked order
  const Context& context_;
};

}  // namespace

void read_batch(LeatServer& server, std::string_view bucket, std::span<BatchRead> reads,
                const Context& context) {
  std::vector<BatchRead*> good;
  good.reserve(reads.size());
  for (BatchRead& read : reads) {
    if (const Status status = check_name(read.name); !status.ok()) {
      read.result = status.error();
    } else {
      good.push_back(&read);
    }
  }
  Batch(server, bucket, std::move(good), context).run();
}

}  // namespace leat::leat_driver
