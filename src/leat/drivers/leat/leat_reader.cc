#include <fmt/format.h>

#include "leat/drivers/leat/object_requests.h"
#include "leat/wire/stream_reader.h"

namespace leat::leat_driver {
namespace {

using http::ClientConnection;
using http::ClientRequest;

Status read_range(LeatServer& server, const std::string& path, std::uint64_t generation,
                  std::uint64_t offset, std::span<std::byte> target, const Context& context) {
  ClientRequest request;
  request.path = path;
  request.query =
      fmt::format("generation={}&length={}&offset={}", generation, target.size(), offset);
  return server.ask(request, context, [&](ClientConnection& answer) {
    if (answer.head().content_length() != target.size()) {
      return Status(Error(ErrorCode::kCorrupted, "the answer has another length than was asked"));
    }
    return answer.read_all(target, context);
  });
}

// Lives as long as the server.
std::shared_ptr<http::Client> client_of(const std::shared_ptr<LeatServer>& server) {
  return {server, &server->client()};
}

}  // namespace

Result<std::unique_ptr<ObjectReader>> open_reader(std::shared_ptr<LeatServer> server,
                                                  std::string path, const OpenOptions& options,
                                                  const Context& context) {
  ClientRequest request;
  request.path = path;
  if (options.generation) request.query = fmt::format("generation={}", *options.generation);
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN(auto answer, server->client().begin(request, context));
    if (const Status status = LeatServer::check(*answer, context); !status.ok()) {
      server->client().keep(std::move(answer));
      return status.error();
    }
    ASSIGN_OR_RETURN(ObjectInfo info, wire::info_of(answer->head().headers()));
    if (answer->head().content_length() != info.size_bytes) {
      return Error(ErrorCode::kCorrupted, "the answer is not as long as the object");
    }
    const auto elsewhere = [server, path, generation = info.generation](
                               std::uint64_t offset, std::span<std::byte> target,
                               const Context& range_context) {
      return read_range(*server, path, generation, offset, target, range_context);
    };
    auto reader = wire::StreamReader::open(client_of(server), std::move(answer), std::move(info),
                                           elsewhere, context);
    if (!reader.failed_with(ErrorCode::kUnavailable) || attempt == kAttempts) return reader;
  }
}

}  // namespace leat::leat_driver
