#include "leat/http/client_connection.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace leat::http {
namespace {

constexpr std::size_t kBufferBytes = 128 << 10;
constexpr std::size_t kMaxHeadBytes = 64 << 10;
// A rest that is read rather than the connection given up.
constexpr std::size_t kMaxRestBytes = 64 << 10;

Error ended_early() {
  return Error(ErrorCode::kUnavailable, "the server closed the connection before its answer ended");
}

}  // namespace

ClientConnection::ClientConnection(ClientSocket socket)
    : socket_(std::move(socket)),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {}

bool ClientConnection::is_reusable() const noexcept {
  return is_at_end_ && !is_broken_ && begin_ == end_ && head_.keeps_alive() &&
         !ends_with_connection_ && !socket_.has_input();
}

Status ClientConnection::send(std::string_view head, std::span<const std::byte> body,
                              const Context& context) {
  if (is_at_end_) sent_bytes_ = 0;
  is_at_end_ = false;
  auto status = socket_.send(head, body, sent_bytes_, context);
  if (!status.ok()) is_broken_ = true;
  return status;
}

std::span<const std::byte> ClientConnection::buffered() const noexcept {
  return {buffer_.get() + begin_, end_ - begin_};
}

// Adds at least one byte to the buffer.
Status ClientConnection::fill(const Context& context) {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  ASSIGN_OR_RETURN(const std::size_t count,
                   receive_some({buffer_.get() + end_, kBufferBytes - end_}, context));
  if (count == 0) {
    is_broken_ = true;
    return ended_early();
  }
  end_ += count;
  return ok_status();
}

Result<std::size_t> ClientConnection::receive_some(std::span<std::byte> target,
                                                   const Context& context) {
  auto count = socket_.receive(target, context);
  if (!count.ok()) is_broken_ = true;
  return count;
}

Status ClientConnection::read_head(Body body, const Context& context) {
  is_at_end_ = false;
  std::size_t searched = 0;
  for (;;) {
    const std::string_view text(reinterpret_cast<const char*>(buffered().data()),
                                buffered().size());
    const std::size_t end = RequestHead::find_end(text, searched);
    if (end == 0) {
      if (text.size() > kMaxHeadBytes) {
        is_broken_ = true;
        return Error(ErrorCode::kCorrupted, "the head of the answer is too long");
      }
      searched = text.size();
      RETURN_IF_ERROR(fill(context));
      continue;
    }
    head_text_ = text.substr(0, end);
    begin_ += end;
    searched = 0;
    if (auto status = head_.parse(head_text_); !status.ok()) {
      is_broken_ = true;
      return status;
    }
    if (head_.status() >= 200) break;  // what came was "100 Continue" or its like
  }
  const bool has_none = body == Body::kNone || head_.status() == 204 || head_.status() == 304;
  chunks_.reset();
  if (head_.is_chunked() && !has_none) chunks_.emplace();
  left_bytes_ = has_none ? 0 : head_.content_length().value_or(0);
  ends_with_connection_ = !has_none && !head_.is_chunked() && !head_.content_length();
  is_at_end_ = !chunks_ && !ends_with_connection_ && left_bytes_ == 0;
  return ok_status();
}

Result<std::size_t> ClientConnection::read(std::span<std::byte> target, const Context& context) {
  if (is_at_end_ || target.empty()) return std::size_t{0};
  return chunks_ ? read_chunked(target, context) : read_plain(target, context);
}

Result<std::size_t> ClientConnection::read_plain(std::span<std::byte> target,
                                                 const Context& context) {
  if (!ends_with_connection_ && target.size() > left_bytes_) {
    target = target.first(static_cast<std::size_t>(left_bytes_));
  }
  std::size_t count = std::min(target.size(), end_ - begin_);
  if (count > 0) {
    std::memcpy(target.data(), buffer_.get() + begin_, count);
    begin_ += count;
  } else {
    ASSIGN_OR_RETURN(count, receive_some(target, context));
    if (count == 0) {
      is_at_end_ = ends_with_connection_;
      is_broken_ = true;
      if (!ends_with_connection_) return ended_early();
      return count;
    }
  }
  if (!ends_with_connection_) {
    left_bytes_ -= count;
    is_at_end_ = left_bytes_ == 0;
  }
  return count;
}

Result<std::size_t> ClientConnection::read_chunked(std::span<std::byte> target,
                                                   const Context& context) {
  // Large pieces of a chunk go past the buffer.
  constexpr std::size_t kDirectBytes = 32 << 10;
  for (;;) {
    if (begin_ == end_ && target.size() >= kDirectBytes && chunks_->data_bytes() >= kDirectBytes) {
      const auto most =
          static_cast<std::size_t>(std::min<std::uint64_t>(target.size(), chunks_->data_bytes()));
      ASSIGN_OR_RETURN(const std::size_t count, receive_some(target.first(most), context));
      if (count == 0) {
        is_broken_ = true;
        return ended_early();
      }
      chunks_->took(count);
      return count;
    }
    if (begin_ == end_) RETURN_IF_ERROR(fill(context));
    // No more than fits: a piece is never longer than what the decoder is shown.
    std::string_view input(reinterpret_cast<const char*>(buffered().data()), buffered().size());
    if (chunks_->data_bytes() > 0) input = input.substr(0, target.size());
    const std::size_t before = input.size();
    const auto piece = chunks_->next(input);
    if (!piece.ok()) {
      is_broken_ = true;
      return Error(ErrorCode::kCorrupted, std::string(piece.error().message()));
    }
    if (piece->size() > target.size()) {
      // The decoder went on to a chunk's data: what does not fit stays in the buffer.
      const std::size_t excess = piece->size() - target.size();
      std::memcpy(target.data(), piece->data(), target.size());
      chunks_->give_back(excess);
      begin_ += before - input.size() - excess;
      return target.size();
    }
    begin_ += before - input.size();
    if (chunks_->is_done()) {
      is_at_end_ = true;
      return std::size_t{0};
    }
    if (!piece->empty()) {
      std::memcpy(target.data(), piece->data(), piece->size());
      return piece->size();
    }
  }
}

Status ClientConnection::read_all(std::span<std::byte> target, const Context& context) {
  while (!target.empty()) {
    ASSIGN_OR_RETURN(const std::size_t count, read(target, context));
    if (count == 0) return ended_early();
    target = target.subspan(count);
  }
  return ok_status();
}

Result<std::string> ClientConnection::read_rest(std::size_t most_bytes, const Context& context) {
  std::string text;
  for (;;) {
    const std::size_t old = text.size();
    if (old > most_bytes) return Error(ErrorCode::kTooLarge, "the answer is too long");
    text.resize(old + (32 << 10));
    auto count = read(std::as_writable_bytes(std::span(text)).subspan(old), context);
    if (!count.ok()) return std::move(count).error();
    text.resize(old + *count);
    if (*count == 0) return text;
  }
}

void ClientConnection::finish(const Context& context) {
  std::array<std::byte, 4096> dropped;
  for (std::size_t total = 0; !is_at_end_ && total < kMaxRestBytes;) {
    const auto count = read(dropped, context);
    if (!count.ok() || *count == 0) return;
    total += *count;
  }
}

}  // namespace leat::http
