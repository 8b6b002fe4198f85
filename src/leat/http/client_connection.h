// ClientConnection: requests and answers over one ClientSocket, one after another.
//
// For one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/http/chunked_decoder.h"
#include "leat/http/client_socket.h"
#include "leat/http/response_head.h"

namespace leat::http {

class ClientConnection {
 public:
  explicit ClientConnection(ClientSocket socket);

  // Whether the next request may go this way: the answer was read to its end, the server keeps the
  // connection, and nothing came that nobody asked for.
  bool is_reusable() const noexcept;

  Status send(std::string_view head, std::span<const std::byte> body, const Context& context);
  // Of the request that is being sent.
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }
  // The answer comes before all was sent: it is not what was hoped for.
  bool answers_early() const noexcept { return socket_.has_input(); }

  enum class Body : std::uint8_t { kAsSaid, kNone };  // kNone: of a HEAD request
  Status read_head(Body body, const Context& context);
  const ResponseHead& head() const noexcept { return head_; }

  // At least one byte of the body; 0 at its end. kUnavailable when it ends too early.
  Result<std::size_t> read(std::span<std::byte> target, const Context& context);
  // All of `target`.
  Status read_all(std::span<std::byte> target, const Context& context);
  // The rest of the body, if it is no longer than `most_bytes`; otherwise kTooLarge.
  Result<std::string> read_rest(std::size_t most_bytes, const Context& context);
  // Reads on to the end, if that is near, so that the connection can be used again.
  void finish(const Context& context);

 private:
  std::span<const std::byte> buffered() const noexcept;
  Status fill(const Context& context);
  Result<std::size_t> read_plain(std::span<std::byte> target, const Context& context);
  Result<std::size_t> read_chunked(std::span<std::byte> target, const Context& context);
  Result<std::size_t> receive_some(std::span<std::byte> target, const Context& context);

  ClientSocket socket_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;  // what came and was not read yet
  std::size_t end_ = 0;
  std::string head_text_;
  ResponseHead head_;
  std::uint64_t left_bytes_ = 0;  // of the body, when not chunked
  std::optional<ChunkedDecoder> chunks_;
  bool ends_with_connection_ = false;
  bool is_at_end_ = true;
  bool is_broken_ = false;
  std::uint64_t sent_bytes_ = 0;
};

}  // namespace leat::http
