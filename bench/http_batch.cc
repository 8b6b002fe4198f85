// http_batch: one connection that asks for random samples, for bench/http/compare.py.
//
// Prints a JSON object: samples a second and, where there is one, the median time in microseconds
// until the first byte of a batch came. The client of each server is as lean as it gets: for Leat
// the frames are read into memory that is used again, for Redis hiredis' replies are not copied.

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "leat/base/random.h"
#include "leat/http/authority.h"
#include "leat/http/client.h"
#include "leat/wire/batch.h"

namespace leat::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string server;
  std::uint16_t port = 0;
  std::string bucket = "bench";
  std::string hash = "samples";
  std::uint64_t objects = 60'000;
  std::uint64_t sample_bytes = 784;
  std::uint64_t batch = 256;
  double seconds = 3;
  std::uint64_t seed = 1;
};

std::string name_of(std::uint64_t number) {
  return fmt::format("s{:07}", number);
}

// One way of asking for `numbers`; tells how long the first byte took.
class Asker {
 public:
  virtual ~Asker() = default;
  virtual Result<Clock::duration> ask(const std::vector<std::uint64_t>& numbers) = 0;
};

Error short_answer() {
  return Error(ErrorCode::kCorrupted, "an answer that was not asked for");
}

http::ClientOptions client_options(std::uint16_t port) {
  http::ClientOptions result;
  result.host = "127.0.0.1";
  result.port = port;
  return result;
}

class LeatBatches final : public Asker {
 public:
  explicit LeatBatches(const Options& options)
      : options_(options), client_(client_options(options.port)), memory_(options.sample_bytes) {}

  Result<Clock::duration> ask(const std::vector<std::uint64_t>& numbers) override {
    std::string list;
    const std::string_view bucket = options_.bucket;
    wire::begin_batch_list(list, numbers.size(), {&bucket, 1});
    for (const std::uint64_t number : numbers) {
      wire::append_batch_item(list, {name_of(number), {}, 0});
    }
    http::ClientRequest request;
    request.method = "POST";
    request.path = "/leat/v1/batch";
    request.headers = {{"content-type", std::string(wire::kBatchType)}, {"x-leat-request", "1"}};
    request.body = std::as_bytes(std::span(list));
    const auto begin = Clock::now();
    Clock::duration first{};
    const Status taken =
        client_.ask(request, Context(), [&](http::ClientConnection& answer) -> Status {
          if (answer.head().status() != 200) return short_answer();
          std::array<std::byte, wire::kFramesHeadBytes> head;
          RETURN_IF_ERROR(answer.read_all(head, Context()));
          first = Clock::now() - begin;
          for (std::size_t i = 0; i < numbers.size(); ++i) RETURN_IF_ERROR(take_frame(answer));
          RETURN_IF_ERROR(answer.read(memory_, Context()));
          return ok_status();
        });
    RETURN_IF_ERROR(taken);
    return first;
  }

 private:
  Status take_frame(http::ClientConnection& answer) {
    std::array<std::byte, wire::kFrameBytes> head;
    RETURN_IF_ERROR(answer.read_all(head, Context()));
    ASSIGN_OR_RETURN(const wire::Frame frame, wire::parse_frame(head));
    if (frame.error || frame.length != memory_.size()) return short_answer();
    return answer.read_all(memory_, Context());
  }

  const Options& options_;
  http::Client client_;
  std::vector<std::byte> memory_;
};

// One object a request.
class SingleGets final : public Asker {
 public:
  explicit SingleGets(const Options& options)
      : options_(options), client_(client_options(options.port)), memory_(options.sample_bytes) {}

  Result<Clock::duration> ask(const std::vector<std::uint64_t>& numbers) override {
    for (const std::uint64_t number : numbers) {
      http::ClientRequest request;
      request.path = fmt::format("/{}/{}", options_.bucket, name_of(number));
      const Status taken =
          client_.ask(request, Context(), [&](http::ClientConnection& answer) -> Status {
            if (answer.head().status() != 200) return short_answer();
            return answer.read_all(memory_, Context());
          });
      RETURN_IF_ERROR(taken);
    }
    return Clock::duration::zero();
  }

 private:
  const Options& options_;
  http::Client client_;
  std::vector<std::byte> memory_;
};

// HMGET out of one hash.
class RedisBatches final : public Asker {
 public:
  explicit RedisBatches(const Options& options)
      : options_(options), connection_(redisConnect("127.0.0.1", options.port)) {}
  ~RedisBatches() override { redisFree(connection_); }

  Result<Clock::duration> ask(const std::vector<std::uint64_t>& numbers) override {
    if (connection_ == nullptr || connection_->err != 0) {
      return Error(ErrorCode::kUnavailable, "no Redis");
    }
    std::vector<std::string> names;
    names.reserve(numbers.size());
    for (const std::uint64_t number : numbers) names.push_back(name_of(number));
    std::vector<const char*> words{"HMGET", options_.hash.c_str()};
    std::vector<std::size_t> lengths{5, options_.hash.size()};
    for (const std::string& name : names) {
      words.push_back(name.c_str());
      lengths.push_back(name.size());
    }
    const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
        static_cast<redisReply*>(redisCommandArgv(connection_, static_cast<int>(words.size()),
                                                  words.data(), lengths.data())),
        &freeReplyObject);
    if (!reply || reply->elements != numbers.size()) return short_answer();
    for (std::size_t i = 0; i < reply->elements; ++i) {
      if (reply->element[i]->len != options_.sample_bytes) return short_answer();
    }
    return Clock::duration::zero();
  }

 private:
  const Options& options_;
  redisContext* connection_;
};

// AIStore's GetBatch, as a tar that is streamed: its proxy says which target to ask.
class AIStoreBatches final : public Asker {
 public:
  explicit AIStoreBatches(const Options& options)
      : options_(options), proxy_(client_options(options.port)) {}

  Result<Clock::duration> ask(const std::vector<std::uint64_t>& numbers) override {
    std::string list = R"({"mime":".tar","onob":true,"strm":true,"in":[)";
    for (const std::uint64_t number : numbers) {
      list +=
          fmt::format("{}{{\"objname\":\"{}\"}}", list.back() == '[' ? "" : ",", name_of(number));
    }
    list += "]}";
    http::ClientRequest request;
    request.path = "/v1/ml/moss/" + options_.bucket;
    request.query = "provider=ais";
    request.headers = {{"content-type", "application/json"}};
    request.body = std::as_bytes(std::span(list));
    const auto begin = Clock::now();
    RETURN_IF_ERROR(follow_proxy(request));
    Clock::duration first{};
    const Status taken =
        target_->ask(request, Context(), [&](http::ClientConnection& answer) -> Status {
          if (answer.head().status() != 200) return short_answer();
          std::array<std::byte, 1> byte;
          RETURN_IF_ERROR(answer.read_all(byte, Context()));
          first = Clock::now() - begin;
          const auto rest = answer.read_rest(64 << 20, Context());
          const bool is_whole = rest.ok() && rest->size() >= numbers.size() * options_.sample_bytes;
          if (!is_whole) return short_answer();
          return ok_status();
        });
    RETURN_IF_ERROR(taken);
    return first;
  }

 private:
  // Leaves in `request` what to ask the target.
  Status follow_proxy(http::ClientRequest& request) {
    std::string location;
    RETURN_IF_ERROR(proxy_.ask(request, Context(), [&](http::ClientConnection& answer) -> Status {
      location = answer.head().header("location").value_or("");
      return answer.read_rest(1 << 20, Context()).ok() ? ok_status() : short_answer();
    }));
    constexpr std::string_view kScheme = "http://";
    const std::size_t slash = location.find('/', kScheme.size());
    const std::size_t question = location.find('?');
    if (slash == location.npos || question == location.npos) return short_answer();
    ASSIGN_OR_RETURN(
        const auto authority,
        http::parse_authority(
            std::string_view(location).substr(kScheme.size(), slash - kScheme.size()), 80));
    if (!target_) target_.emplace(client_options(authority.port));
    request.path = location.substr(slash, question - slash);
    request.query = location.substr(question + 1);
    return ok_status();
  }

  const Options& options_;
  http::Client proxy_;
  std::optional<http::Client> target_;
};

template <typename AskerKind>
std::unique_ptr<Asker> make(const Options& options) {
  return std::make_unique<AskerKind>(options);
}
const std::map<std::string, std::unique_ptr<Asker> (*)(const Options&)> kAskers{
    {"leat", make<LeatBatches>},
    {"gets", make<SingleGets>},
    {"redis", make<RedisBatches>},
    {"aistore", make<AIStoreBatches>}};

Status run(const Options& options) {
  const auto asker = kAskers.at(options.server)(options);
  Random random(options.seed);
  std::vector<double> first_us;
  std::uint64_t batches = 0;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>(options.seconds);
  while (Clock::now() < end) {
    std::vector<std::uint64_t> numbers(options.batch);
    for (std::uint64_t& number : numbers) number = random.uniform(options.objects);
    ASSIGN_OR_RETURN(const auto first, asker->ask(numbers));
    first_us.push_back(std::chrono::duration<double, std::micro>(first).count());
    ++batches;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::nth_element(first_us.begin(), first_us.begin() + static_cast<long>(first_us.size() / 2),
                   first_us.end());
  fmt::print("{{\"samples_per_second\":{:.1f},\"first_byte_us\":{:.1f}}}\n",
             static_cast<double>(batches * options.batch) / seconds, first_us[first_us.size() / 2]);
  return ok_status();
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  leat::bench::Options options;
  CLI::App app("Asks a server for random samples over one connection");
  app.add_option("--server", options.server)
      ->required()
      ->check(CLI::IsMember({"leat", "gets", "redis", "aistore"}));
  app.add_option("--port", options.port)->required();
  app.add_option("--bucket", options.bucket);
  app.add_option("--objects", options.objects, "s0000000, s0000001, …")
      ->check(CLI::Range(1, 9999999));
  app.add_option("--batch", options.batch)->check(CLI::Range(1, 65536));
  app.add_option("--sample-bytes", options.sample_bytes);
  app.add_option("--seconds", options.seconds);
  app.add_option("--seed", options.seed);
  CLI11_PARSE(app, argc, argv);
  const leat::Status status = leat::bench::run(options);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.error().message());
  return status.ok() ? 0 : 1;
}
