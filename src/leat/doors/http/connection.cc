#include "leat/doors/http/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "leat/base/check.h"
#include "leat/doors/http/residency.h"
#include "leat/http/date.h"
#include "leat/http/status.h"

namespace leat::doors::http {
namespace {

// The body of a request is consumed in pieces of this size.
constexpr std::size_t kPieceBytes = 256 << 10;
// An object is looked up in its files, and compared with its checksums, in windows of this size.
constexpr std::uint64_t kWindowBytes = 4 << 20;
// What one call sends of a file, so that the others of the loop have their turn.
constexpr std::uint64_t kSendfileBytes = 1 << 20;
// After so much the others have their turn, on the loop and in the pool, however fast the client
// is.
constexpr std::uint64_t kTurnBytes = 2 << 20;
constexpr std::uint64_t kTurnRequests = 64;
constexpr std::size_t kCopyBytes = 256 << 10;
// A body up to this size goes out in one call with its head.
constexpr std::size_t kJoinedBytes = 16 << 10;
constexpr std::size_t kMaxLingerBytes = 16 << 20;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(int socket, Application& application, const Options& options)
    : channel_(socket, options.identity), application_(application), options_(options) {}

Connection::Want Connection::run_on_loop(LoopSpace& space) {
  turn_requests_ = 0;
  turn_bytes_ = 0;
  for (;;) {
    switch (state_) {
      case State::kHead: {
        return_memory(space);
        const Want want = read_heads(space);
        if (state_ == State::kHead || want == Want::kClose) return want;
        break;
      }
      case State::kBody:
        switch (gather_body()) {
          case Gathered::kAll:
          case Gathered::kPiece: {
            if (!active_->exchange->never_waits()) return Want::kPool;
            borrow_memory(space);
            const Want want = work();
            if (want != Want::kPool) return want;
            break;
          }
          case Gathered::kNotYet:
            return Want::kRead;
          case Gathered::kBroken:
            return Want::kClose;
          case Gathered::kRefused:
            break;
        }
        break;
      case State::kAnswer:
        if (const Want want = send(Blocking::kNo); want != Want::kLoop) return want;
        break;
      case State::kLinger:
        return linger();
    }
  }
}

Connection::Want Connection::run_on_pool() {
  turn_bytes_ = 0;
  if (state_ == State::kBody) {
    if (const Want want = work(); want != Want::kPool) return want;
  }
  if (state_ == State::kAnswer) return send(Blocking::kYes);
  return Want::kLoop;
}

// Reads requests until one is not answered at once, or there are no more.
Connection::Want Connection::read_heads(LoopSpace& space) {
  for (;;) {
    // What came before, if anything, and what comes now.
    std::string_view text;
    bool is_drained = true;
    if (input_.empty()) {
      const auto count = channel_.receive(space.input.data(), space.input.size());
      if (count <= 0) return count == Channel::kNotNow ? Want::kRead : Want::kClose;
      text = std::string_view(space.input.data(), static_cast<std::size_t>(count));
      is_drained = is_drained_after(text.size(), space.input.size());
    } else if (searched_ == input_.size()) {
      const std::size_t old = input_.size();
      input_.resize(options_.max_head_bytes + 1);
      const auto count = channel_.receive(input_.data() + old, input_.size() - old);
      input_.resize(old + static_cast<std::size_t>(std::max<std::ptrdiff_t>(count, 0)));
      if (count <= 0) return count == Channel::kNotNow ? Want::kRead : Want::kClose;
      text = input_;
      is_drained = is_drained_after(static_cast<std::size_t>(count), SIZE_MAX);
    } else {
      text = input_;
      is_drained = false;
    }
    while (!text.empty()) {
      if (const auto want = take_request(text, space)) {
        // What is left belongs to the body or to the next request; an exchange has it already.
        if (state_ != State::kBody) input_ = std::string(text);
        searched_ = 0;
        return *want;
      }
      if (searched_ > 0) break;
      if (++turn_requests_ >= kTurnRequests) {
        input_ = std::string(text);
        return Want::kTurn;
      }
    }
    if (text.data() != input_.data() || text.size() != input_.size()) input_ = std::string(text);
    if (is_drained) return Want::kRead;
  }
}

std::optional<Connection::Want> Connection::take_request(std::string_view& text, LoopSpace& space) {
  // Empty lines before a request are allowed for.
  while (searched_ == 0 && text.starts_with("\r\n")) text.remove_prefix(2);
  const std::size_t end = RequestHead::find_end(text, searched_);
  const std::size_t length = end == 0 ? text.size() : end;
  const bool is_too_long = length > options_.max_head_bytes;
  if (end == 0 && !is_too_long) {
    searched_ = text.size();
    return std::nullopt;
  }
  searched_ = 0;
  ++requests_;
  const Status status = space.head.parse(text.substr(0, length));
  if (is_too_long) {
    return refuse(space.head, Error(ErrorCode::kTooLarge, "the head of the request is too long"));
  }
  if (!status.ok()) return refuse(space.head, status.error());
  if (!space.head.has_body()) {
    auto quick = application_.answer_now(space.head, {space.headers, space.body});
    if (quick) {
      text.remove_prefix(end);
      const Want want = answer_quickly(*std::move(quick), space);
      if (want == Want::kLoop) return std::nullopt;
      return want;
    }
  }
  const std::string_view head_text = text.substr(0, end);
  text.remove_prefix(end);
  start_exchange(head_text, text);
  return Want::kLoop;
}

// kLoop: sent, on to the next.
Connection::Want Connection::answer_quickly(QuickAnswer quick, LoopSpace& space) {
  counted_ = quick.counted;
  const bool is_last = !space.head.keeps_alive() || closes_.load(std::memory_order_relaxed);
  const std::uint64_t length = quick.object ? quick.object->range.length : quick.body.size();
  std::array<char, 256> first;
  const auto written = fmt::format_to_n(
      first.data(), first.size(), "HTTP/1.1 {} {}\r\n{}Content-Length: {}\r\n{}", quick.status,
      leat::http::status_text(quick.status), space.date, quick.length_of_head.value_or(length),
      is_last ? "Connection: close\r\n" : "");
  CHECK(written.size <= first.size());
  if (quick.object) {
    output_.assign(first.data(), written.size);
    output_.append(space.headers.data(), quick.header_bytes);
    output_ += "\r\n";
    answer_.body = *std::move(quick.object);
    start_sending(is_last);
    return Want::kWrite;
  }
  static constexpr std::string_view kEnd = "\r\n";
  const bool has_body = !quick.length_of_head.has_value();
  std::array<iovec, 4> pieces{
      {{first.data(), written.size},
       {space.headers.data(), quick.header_bytes},
       {const_cast<char*>(kEnd.data()), kEnd.size()},
       {const_cast<std::byte*>(quick.body.data()), has_body ? quick.body.size() : 0}}};
  const auto count = channel_.send(pieces, Channel::More::kNo);
  if (count == Channel::kBroken) return Want::kClose;
  // What did not fit into the socket is kept.
  auto sent = static_cast<std::size_t>(std::max<std::ptrdiff_t>(count, 0));
  for (const iovec& piece : pieces) {
    const std::size_t skipped = std::min(sent, piece.iov_len);
    sent -= skipped;
    output_.append(static_cast<const char*>(piece.iov_base) + skipped, piece.iov_len - skipped);
  }
  if (output_.empty() && !is_last) {
    count_request(counted_.status);
    return Want::kLoop;
  }
  answer_ = Answer();
  start_sending(is_last);
  body_done_ = true;
  return Want::kWrite;
}

// Sends `output_` and the body of `answer_` from here on.
void Connection::start_sending(bool is_last) {
  ends_after_answer_ = is_last;
  output_sent_ = 0;
  has_sent_ = false;
  window_.clear();
  window_at_ = 0;
  body_done_ = false;
  state_ = State::kAnswer;
}

void Connection::start_exchange(std::string_view head_text, std::string_view rest) {
  active_ = std::make_unique<Active>();
  active_->bytes = std::string(head_text);
  CHECK(active_->head.parse(active_->bytes).ok());
  input_ = std::string(rest);
  stop_ = std::stop_source();
  unanswered_ = std::stop_source();
  has_sent_ = false;
  active_->exchange = application_.begin(active_->head);
  const RequestHead& head = active_->head;
  const bool wants_body = active_->exchange->wants_body();
  leaves_body_ = head.has_body() && !wants_body;
  active_->is_body_whole = !head.has_body() || leaves_body_;
  ends_after_answer_ = !head.keeps_alive() || leaves_body_;
  active_->left_bytes = head.content_length().value_or(0);
  if (head.is_chunked()) active_->chunks.emplace();
  if (!active_->is_body_whole) {
    active_->piece_capacity =
        head.is_chunked()
            ? kPieceBytes
            : static_cast<std::size_t>(std::min<std::uint64_t>(active_->left_bytes, kPieceBytes));
    if (head.expects_continue() && input_.empty()) {
      const iovec piece{const_cast<char*>(kContinue.data()), kContinue.size()};
      (void)channel_.send({&piece, 1}, Channel::More::kNo);
    }
  }
  state_ = State::kBody;
}

Connection::Want Connection::refuse(const RequestHead& head, const Error& error) {
  int status = error_traits(error.code()).http_status;
  if (error.code() == ErrorCode::kTooLarge) status = 431;
  if (!head.is_version_known()) status = 505;
  ends_after_answer_ = true;
  start_answer(application_.refuse({head, error, status}), nullptr);
  return Want::kWrite;
}

Connection::Gathered Connection::gather_body() {
  if (active_->is_body_whole) return Gathered::kAll;
  if (!active_->piece) {
    active_->piece = std::make_unique_for_overwrite<std::byte[]>(active_->piece_capacity);
  }
  return active_->chunks ? gather_chunked() : gather_plain();
}

Connection::Gathered Connection::gather_plain() {
  Active& active = *active_;
  while (active.left_bytes > 0 && !is_piece_full()) {
    const auto room = static_cast<std::size_t>(
        std::min<std::uint64_t>(active.left_bytes, active.piece_capacity - active.piece_bytes));
    std::size_t count = 0;
    if (!input_.empty()) {
      count = std::min(room, input_.size());
      std::memcpy(active.piece.get() + active.piece_bytes, input_.data(), count);
      input_.erase(0, count);
    } else {
      const auto received = channel_.receive(active.piece.get() + active.piece_bytes, room);
      if (received == Channel::kNotNow) return Gathered::kNotYet;
      if (received <= 0) return Gathered::kBroken;
      count = static_cast<std::size_t>(received);
    }
    active.piece_bytes += count;
    active.left_bytes -= count;
  }
  active.is_body_whole = active.left_bytes == 0;
  return active.is_body_whole ? Gathered::kAll : Gathered::kPiece;
}

Connection::Gathered Connection::gather_chunked() {
  Active& active = *active_;
  for (;;) {
    std::string_view rest = input_;
    while (!rest.empty() && !active.chunks->is_done() && !is_piece_full()) {
      std::string_view window = rest.substr(
          0, active.piece_capacity - active.piece_bytes);  // no piece is longer than room
      const std::size_t before = window.size();
      auto data = active.chunks->next(window);
      if (!data.ok()) {
        leaves_body_ = true;
        (void)refuse(active.head, data.error());
        return Gathered::kRefused;
      }
      const auto bytes = std::as_bytes(std::span(*data));
      std::copy(bytes.begin(), bytes.end(), active.piece.get() + active.piece_bytes);
      active.piece_bytes += bytes.size();
      rest.remove_prefix(before - window.size());
    }
    input_.erase(0, input_.size() - rest.size());
    active.is_body_whole = active.chunks->is_done();
    if (active.is_body_whole) return Gathered::kAll;
    if (is_piece_full()) return Gathered::kPiece;
    std::array<char, 64 << 10> buffer;
    const auto count = channel_.receive(buffer.data(), buffer.size());
    if (count == Channel::kNotNow) return Gathered::kNotYet;
    if (count <= 0) return Gathered::kBroken;
    input_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// Consumes what has come, and reads on while something comes. kPool: there is an answer to send.
Connection::Want Connection::work() {
  Active& active = *active_;
  for (;;) {
    if (active.piece_bytes > 0) {
      const auto status =
          active.exchange->consume(std::span(active.piece.get(), active.piece_bytes), context());
      active.piece_bytes = 0;
      if (!status.ok()) {
        leaves_body_ = !active.is_body_whole;
        ends_after_answer_ |= leaves_body_;
        break;
      }
    }
    if (active.is_body_whole) break;
    const Gathered gathered = gather_body();
    if (gathered == Gathered::kBroken) return Want::kClose;
    if (gathered == Gathered::kNotYet) return Want::kRead;
    if (gathered == Gathered::kRefused) return Want::kPool;
  }
  active.piece.reset();
  start_answer(active.exchange->respond(context()), &active.head);
  return Want::kPool;
}

void Connection::start_answer(Answer answer, const RequestHead* head) {
  ends_after_answer_ |= closes_.load(std::memory_order_relaxed);
  const bool is_stream = std::holds_alternative<std::unique_ptr<BodySource>>(answer.body);
  const bool is_head_request = head != nullptr && head->method() == leat::http::Method::kHead;
  is_body_chunked_ = is_stream && (head == nullptr || !head->is_http_1_0());
  if (is_stream && !is_body_chunked_) ends_after_answer_ = true;  // the end is the connection's
  std::string length;
  if (answer.length_of_head) {
    length = fmt::format("Content-Length: {}\r\n", *answer.length_of_head);
  } else if (const auto* text = std::get_if<std::string>(&answer.body)) {
    const bool has_no_length = answer.status == 204 || answer.status == 304;
    if (!has_no_length) length = fmt::format("Content-Length: {}\r\n", text->size());
  } else if (const auto* object = std::get_if<ObjectBody>(&answer.body)) {
    length = fmt::format("Content-Length: {}\r\n", object->range.length);
  } else if (is_body_chunked_) {
    length = "Transfer-Encoding: chunked\r\n";
  }
  output_.clear();  // and keeps its memory
  fmt::format_to(std::back_inserter(output_), "HTTP/1.1 {} {}\r\n{}{}{}{}\r\n", answer.status,
                 leat::http::status_text(answer.status), leat::http::date_line(std::time(nullptr)),
                 length, ends_after_answer_ ? "Connection: close\r\n" : "", answer.headers);
  answer_ = std::move(answer);
  if (is_head_request) answer_.body = std::string();
  if (auto* text = std::get_if<std::string>(&answer_.body);
      text != nullptr && text->size() <= kJoinedBytes) {
    output_ += *text;
    text->clear();
  }
  start_sending(ends_after_answer_);
}

// kLoop: the answer is out, and the connection goes on.
Connection::Want Connection::send(Blocking blocking) {
  for (;;) {
    const bool has_file = std::holds_alternative<ObjectBody>(answer_.body) && !body_done_;
    auto* const source = std::get_if<std::unique_ptr<BodySource>>(&answer_.body);
    std::optional<Want> want;
    // The head and the first piece go out together.
    if (source != nullptr && !body_done_) want = fill_from_source(**source, blocking);
    if (want == Want::kClose) return *want;
    if (const auto unsent = send_output(has_file ? Channel::More::kYes : Channel::More::kNo)) {
      return *unsent;
    }
    if (want) return *want;
    if (body_done_) return finish_answer();
    if (auto* text = std::get_if<std::string>(&answer_.body)) {
      output_ = std::move(*text);
      body_done_ = true;
    } else if (auto* object = std::get_if<ObjectBody>(&answer_.body)) {
      want = send_object(*object, blocking);
    }
    if (want) return *want;
  }
}

// Nothing: all of it is out.
std::optional<Connection::Want> Connection::send_output(Channel::More more) {
  while (output_sent_ < output_.size()) {
    const iovec piece{output_.data() + output_sent_, output_.size() - output_sent_};
    const auto count = channel_.send({&piece, 1}, more);
    if (count < 0) return count == Channel::kNotNow ? Want::kWrite : Want::kClose;
    has_sent_ = true;
    output_sent_ += static_cast<std::size_t>(count);
  }
  output_.clear();
  output_sent_ = 0;
  return std::nullopt;
}

std::optional<Connection::Want> Connection::send_object(ObjectBody& body, Blocking blocking) {
  if (window_at_ < window_.size()) return send_extents(blocking);
  if (body.range.length == 0) {
    body_done_ = true;
    return std::nullopt;
  }
  const ByteRange part{body.range.offset, std::min(body.range.length, kWindowBytes)};
  if (blocking == Blocking::kNo) {
    if (!body.reader->local_extents_now(part, window_)) return Want::kPool;
    window_at_ = 0;
    body.range.offset += part.length;
    body.range.length -= part.length;
    return std::nullopt;
  }
  auto extents = body.reader->local_extents(part, context());
  if (extents.ok()) {
    window_ = *std::move(extents);
    window_at_ = 0;
    body.range.offset += part.length;
    body.range.length -= part.length;
    return std::nullopt;
  }
  // After the head is out an error can only be told by cutting the connection.
  if (!extents.failed_with(ErrorCode::kUnsupported)) return Want::kClose;
  output_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(part.length, kCopyBytes)));
  const auto count =
      body.reader->read_at(part.offset, std::as_writable_bytes(std::span(output_)), context());
  if (!count.ok() || *count != output_.size()) return Want::kClose;
  body.range.offset += *count;
  body.range.length -= *count;
  return std::nullopt;
}

std::optional<Connection::Want> Connection::send_extents(Blocking blocking) {
  LocalExtent& extent = window_[window_at_];
  const std::uint64_t length = std::min(extent.length, kSendfileBytes);
  if (turn_bytes_ >= kTurnBytes) return Want::kTurn;
  if (blocking == Blocking::kNo && !is_resident(extent.descriptor, extent.offset, length)) {
    return Want::kPool;
  }
  const auto count =
      channel_.send_file(extent.descriptor, extent.offset, static_cast<std::size_t>(length));
  if (count == Channel::kNotNow) return Want::kWrite;
  if (count <= 0) return Want::kClose;  // with kEnd: the file is shorter than it was
  turn_bytes_ += static_cast<std::uint64_t>(count);
  extent.offset += static_cast<std::uint64_t>(count);
  extent.length -= static_cast<std::uint64_t>(count);
  if (extent.length == 0) ++window_at_;
  return std::nullopt;
}

// Appends the next piece to `output_`, unless what is there is enough to be sent.
std::optional<Connection::Want> Connection::fill_from_source(BodySource& source,
                                                             Blocking blocking) {
  if (output_sent_ > 0 || output_.size() >= kJoinedBytes) return std::nullopt;
  if (turn_bytes_ >= kTurnBytes) return Want::kTurn;
  // The length comes first and is known last.
  constexpr std::string_view kNoLength = "00000000\r\n";
  const std::size_t chunk = output_.size();
  if (is_body_chunked_) output_ += kNoLength;
  const std::size_t begin = output_.size();
  auto left = BodySource::Left::kNothing;
  if (blocking == Blocking::kNo) {
    const auto now = source.next_now(output_);
    if (!now) {
      output_.resize(chunk);
      return Want::kPool;
    }
    left = *now;
  } else {
    const auto next = source.next(output_, context());
    if (!next.ok()) return Want::kClose;
    left = *next;
  }
  const std::size_t length = output_.size() - begin;
  turn_bytes_ += length;
  body_done_ = left == BodySource::Left::kNothing;
  if (!is_body_chunked_) return std::nullopt;
  CHECK(length <= UINT32_MAX);
  if (length == 0) {
    output_.resize(chunk);  // an empty chunk would end the body
  } else {
    fmt::format_to(output_.begin() + static_cast<std::ptrdiff_t>(chunk), "{:08x}", length);
    output_ += "\r\n";
  }
  if (body_done_) output_ += "0\r\n\r\n";
  return std::nullopt;
}

// Between two answers the loop keeps the memory that one needed.
void Connection::borrow_memory(LoopSpace& space) {
  if (output_.capacity() < space.spare.capacity()) output_.swap(space.spare);
}
void Connection::return_memory(LoopSpace& space) {
  constexpr std::size_t kKeptBytes = 1024;  // of an idle connection
  constexpr std::size_t kSpareBytes = 1 << 20;
  if (output_.capacity() <= kKeptBytes) return;
  if (output_.capacity() > space.spare.capacity() && output_.capacity() <= kSpareBytes) {
    output_.swap(space.spare);
  }
  output_ = std::string();
}

// With 0 for a client that went away before its answer was out.
void Connection::count_request(int status) {
  if (counted_.operation == nullptr) return;
  counted_.operation->record(status, counted_.bytes,
                             std::chrono::steady_clock::now() - counted_.begin);
  counted_.operation = nullptr;
}

Connection::Want Connection::finish_answer() {
  count_request(counted_.status);
  answer_ = Answer();
  active_.reset();
  if (!ends_after_answer_) {
    state_ = State::kHead;
    searched_ = 0;
    return Want::kLoop;
  }
  // A close with unread bytes resets the connection, and the client may never see the answer.
  channel_.end();
  if (!leaves_body_ && input_.empty()) return Want::kClose;
  state_ = State::kLinger;
  return Want::kLoop;
}

// Until the client closes, or has sent more than is worth to read for a last word to it.
Connection::Want Connection::linger() {
  input_.clear();
  std::array<char, 64 << 10> buffer;
  while (lingered_bytes_ < kMaxLingerBytes) {
    const auto count = channel_.receive(buffer.data(), buffer.size());
    if (count == Channel::kNotNow) return Want::kRead;
    if (count <= 0) break;
    lingered_bytes_ += static_cast<std::size_t>(count);
  }
  return Want::kClose;
}

}  // namespace leat::doors::http
