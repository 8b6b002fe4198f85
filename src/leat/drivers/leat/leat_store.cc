#include "leat/drivers/leat/leat_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "leat/base/mutex.h"
#include "leat/base/url.h"
#include "leat/drivers/leat/json.h"
#include "leat/drivers/leat/object_requests.h"

namespace leat {
namespace {

using http::ClientConnection;
using http::ClientRequest;
using namespace leat_driver;  // NOLINT: the rest of this driver

constexpr std::uint32_t kPageNames = 10'000;  // the server gives no more at once

class LeatStore final : public ObjectStore {
 public:
  LeatStore(std::shared_ptr<LeatServer> server, std::string bucket)
      : server_(std::move(server)),
        bucket_(std::move(bucket)),
        url_(server_->url() + "/" + percent_encode(bucket_)) {}

  std::string_view url() const noexcept override { return url_; }
  Capabilities capabilities() const noexcept override { return {}; }

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override {
    RETURN_IF_ERROR(check_name(name));
    ClientRequest request;
    request.method = "HEAD";
    request.path = object_path(bucket_, name);
    ObjectInfo info;
    RETURN_IF_ERROR(server_->ask(request, context, [&](ClientConnection& answer) -> Status {
      ASSIGN_OR_RETURN(info, wire::info_of(answer.head().headers()));
      return ok_status();
    }));
    return info;
  }

  Result<ListPage> list(const ListRequest& request, const Context& context) override {
    ListPage page;
    ListRequest rest = request;
    for (;;) {
      const std::uint32_t limit = std::min(rest.limit, kPageNames);
      ASSIGN_OR_RETURN(ListPage more, list_page(rest, limit, context));
      const auto count =
          static_cast<std::uint32_t>(more.entries.size() + more.common_prefixes.size());
      if (count > limit) return Error(ErrorCode::kCorrupted, "the listing is too long");
      std::move(more.entries.begin(), more.entries.end(), std::back_inserter(page.entries));
      std::move(more.common_prefixes.begin(), more.common_prefixes.end(),
                std::back_inserter(page.common_prefixes));
      page.next_start_after = std::move(more.next_start_after);
      rest.limit -= count;
      if (page.next_start_after.empty() || rest.limit == 0) return page;
      // Otherwise a confused server could keep us here for ever.
      if (page.next_start_after <= rest.start_after) {
        return Error(ErrorCode::kCorrupted, "the listing goes back");
      }
      rest.start_after = page.next_start_after;
    }
  }

  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override {
    RETURN_IF_ERROR(check_name(name));
    return open_reader(server_, object_path(bucket_, name), options, context);
  }

  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override {
    RETURN_IF_ERROR(check_name(name));
    return make_writer(server_, object_path(bucket_, name), options, context);
  }

  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override {
    RETURN_IF_ERROR(check_name(name));
    ClientRequest request;
    request.method = "DELETE";
    request.path = object_path(bucket_, name);
    request.headers.emplace_back(wire::kRequestHeader, "1");
    RETURN_IF_ERROR(add_precondition(request, options.precondition));
    add_durability(request, options.durability);
    request.repeat = ClientRequest::Repeat::kUnsafe;
    const auto done = [](ClientConnection&) { return ok_status(); };
    Status status = server_->ask(request, context, done);
    const bool may_repeat = options.precondition.kind == Precondition::Kind::kNone;
    if (!status.failed_with(ErrorCode::kUnavailable) || !may_repeat) return status;
    // It may have happened or not. Once more is as good as once.
    request.repeat = ClientRequest::Repeat::kSafe;
    const Status again = server_->ask(request, context, done);
    return again.failed_with(ErrorCode::kNotFound) ? ok_status() : again;
  }

  void read_batch(std::span<BatchRead> reads, const Context& context) override {
    leat_driver::read_batch(*server_, bucket_, reads, context);
  }

  Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                          const CreateOptions& options, const Context& context) override {
    RETURN_IF_ERROR(check_name(source));
    RETURN_IF_ERROR(check_name(target));
    ClientRequest request;
    request.method = "PUT";
    request.path = object_path(bucket_, target);
    RETURN_IF_ERROR(add_create_options(request, options));
    request.headers.emplace_back(wire::kCopySourceHeader,
                                 percent_encode(bucket_) + "/" + percent_encode(source, "/"));
    if (options.precondition.kind != Precondition::Kind::kNone) {
      request.repeat = ClientRequest::Repeat::kUnsafe;
    }
    ObjectInfo info;
    RETURN_IF_ERROR(server_->ask(request, context, [&](ClientConnection& answer) -> Status {
      ASSIGN_OR_RETURN(info, wire::info_of(answer.head().headers()));
      return ok_status();
    }));
    return info;
  }

 private:
  Result<ListPage> list_page(const ListRequest& list, std::uint32_t limit, const Context& context) {
    ClientRequest request;
    request.path = "/leat/v1/list/" + percent_encode(bucket_);
    request.query = fmt::format("limit={}", limit);
    const auto add = [&](std::string_view name, std::string_view value) {
      if (!value.empty()) request.query += fmt::format("&{}={}", name, percent_encode(value));
    };
    add("prefix", list.prefix);
    add("delimiter", list.delimiter);
    add("start_after", list.start_after);
    if (list.members == ListRequest::Members::kShow) add("members", "1");
    if (list.unreachable == ListRequest::Unreachable::kLeaveOut) add("reachable", "1");
    ASSIGN_OR_RETURN(const std::string text, server_->ask_text(request, context));
    return native_json::parse_page(text);
  }

  const std::shared_ptr<LeatServer> server_;
  const std::string bucket_;
  const std::string url_;
};

// One client a server, whatever the number of locations on it.
class OpenServers {
 public:
  Result<StoreLocation> open(const Url& url, IfMissing if_missing) {
    ASSIGN_OR_RETURN(LeatUrl place, parse_leat_url(url));
    if (place.bucket.empty()) {
      return Error(
          ErrorCode::kInvalidArgument,
          url.to_string() + " names a server; add a bucket: " + place.server_url() + "/BUCKET");
    }
    ASSIGN_OR_RETURN(auto server, find(place));
    if (if_missing == IfMissing::kCreate &&
        server->stat_bucket(place.bucket, Context()).failed_with(ErrorCode::kNotFound)) {
      const Status made = server->create_bucket(place.bucket, Durability::kDefault, Context());
      if (!made.ok() && !made.failed_with(ErrorCode::kAlreadyExists)) return made.error();
    }
    return StoreLocation{make_leat_store(std::move(server), std::move(place.bucket)),
                         std::move(place.name)};
  }

 private:
  Result<std::shared_ptr<LeatServer>> find(const LeatUrl& place) EXCLUDES(mutex_) {
    const std::string key = place.server_url() + "?" + place.keys;
    {
      const MutexLock lock(mutex_);
      if (auto server = servers_[key].lock()) return server;
    }
    ASSIGN_OR_RETURN(auto made, LeatServer::make(place));
    const MutexLock lock(mutex_);
    if (auto server = servers_[key].lock()) return server;
    servers_[key] = made;
    return made;
  }

  Mutex mutex_;
  std::map<std::string, std::weak_ptr<LeatServer>> servers_ GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<ObjectStore> make_leat_store(std::shared_ptr<LeatServer> server,
                                             std::string bucket) {
  return std::make_shared<LeatStore>(std::move(server), std::move(bucket));
}

void register_leat(Registry& registry) {
  auto servers = std::make_shared<OpenServers>();
  for (const std::string_view scheme : {kLeatScheme, kLeatTlsScheme}) {
    registry.add(std::string(scheme), [servers](const Url& url, IfMissing if_missing) {
      return servers->open(url, if_missing);
    });
  }
}

}  // namespace leat
