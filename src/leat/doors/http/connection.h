// Connection: one client, from its first byte to its last.
//
// run_on_loop() and run_on_pool() take the request and its answer as far as they go and say what to
// wait for. On the loop nothing is done that may block; on a thread of the pool it may. Only one of
// the two runs at a time; the server sees to that.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "leat/doors/http/application.h"
#include "leat/doors/http/channel.h"
#include "leat/http/chunked_decoder.h"
#include "leat/http/request_head.h"

namespace leat::doors::http {

// What the connections of a loop share: room for what need not outlast one call.
struct LoopSpace {
  std::array<char, 64 << 10> input;
  RequestHead head;
  std::array<char, 16 << 10> headers;
  std::array<std::byte, 72 << 10> body;  // larger objects are sent from their files
  std::string date;                      // "Date: …\r\n", a second old at most
  std::string spare;                     // memory for answers that are made piece by piece
};

class Connection {
 public:
  struct Options {
    std::size_t max_head_bytes = 32 << 10;
    const TlsIdentity* identity = nullptr;  // null: without TLS
  };
  enum class Want : std::uint8_t {
    kRead,   // the socket to be readable
    kWrite,  // the socket to be writable
    kPool,   // run_on_pool()
    kLoop,   // run_on_loop() again: there may be a next request in the buffer
    kTurn,   // the same, after the others of the loop had their turn
    kClose,  // nothing more: destroy it
  };

  // Owns `socket`, which does not block.
  Connection(int socket, Application& application, const Options& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { count_request(0); }

  Want run_on_loop(LoopSpace& space);
  Want run_on_pool();

  // These two are for the loop, also while the pool runs.
  // The client is gone: what works for it should stop.
  void cancel() {
    stop_.request_stop();
    unanswered_.request_stop();
  }
  // The client sends no more (a FIN). Most are gone and some still read, which nobody can tell
  // before a byte is sent to them. So what waits in the pool is cancelled, as a proxy does with
  // nginx's 499; what the loop answers by itself is answered, and an answer that has begun goes on
  // until the socket says that nobody takes it.
  void end_input() {
    has_input_ended_ = true;
    unanswered_.request_stop();
  }
  bool has_input_ended() const { return has_input_ended_; }
  // Answers from now on end the connection. From any thread.
  void close_after_answer() { closes_.store(true, std::memory_order_relaxed); }
  // Between two requests.
  bool is_idle() const { return state_ == State::kHead && input_.empty(); }
  // In the middle of a head: the time for it runs from its first byte.
  bool is_reading_head() const { return state_ == State::kHead && !input_.empty(); }
  // In the middle of an answer.
  bool is_answering() const { return state_ == State::kAnswer; }
  bool is_sending_object() const {
    return is_answering() && std::holds_alternative<ObjectBody>(answer_.body);
  }
  std::uint64_t requests() const { return requests_; }
  int socket() const { return channel_.socket(); }

 private:
  enum class State : std::uint8_t { kHead, kBody, kAnswer, kLinger };
  // kRefused: the body is malformed, and the answer says so.
  enum class Gathered : std::uint8_t { kAll, kPiece, kNotYet, kBroken, kRefused };

  // A request that is not answered at once.
  struct Active {
    std::string bytes;  // of the head
    RequestHead head;
    std::unique_ptr<Exchange> exchange;
    // The body: what came of it and was not consumed, and what is still to come.
    std::unique_ptr<std::byte[]> piece;
    std::size_t piece_bytes = 0;
    std::size_t piece_capacity = 0;
    std::uint64_t left_bytes = 0;
    std::optional<leat::http::ChunkedDecoder> chunks;
    bool is_body_whole = false;
  };

  Want read_heads(LoopSpace& space);
  // Whether a read would give nothing. After the end of input it gives that end, and no event will
  // tell again that it is there.
  bool is_drained_after(std::size_t count, std::size_t asked) const {
    return !has_input_ended_ && !channel_.may_have_more(count, asked);
  }
  // Takes one request off the front of `text`; nothing when it is not there as a whole.
  std::optional<Want> take_request(std::string_view& text, LoopSpace& space);
  Want answer_quickly(QuickAnswer quick, LoopSpace& space);
  void start_exchange(std::string_view head_text, std::string_view rest);
  Want refuse(const RequestHead& head, const Error& error);

  Context context() const {
    const std::stop_source& stop = has_sent_ ? stop_ : unanswered_;
    return Context().with_cancellation(stop.get_token());
  }
  Gathered gather_body();
  Gathered gather_plain();
  Gathered gather_chunked();
  bool is_piece_full() const { return active_->piece_bytes == active_->piece_capacity; }
  Want work();  // consumes, responds; blocks

  enum class Blocking : bool { kNo, kYes };
  void start_sending(bool is_last);
  void start_answer(Answer answer, const RequestHead* head);
  Want send(Blocking blocking);
  std::optional<Want> send_output(Channel::More more);
  std::optional<Want> send_object(ObjectBody& body, Blocking blocking);
  std::optional<Want> send_extents(Blocking blocking);
  std::optional<Want> fill_from_source(BodySource& source, Blocking blocking);
  void borrow_memory(LoopSpace& space);
  void return_memory(LoopSpace& space);
  void count_request(int status);
  Want finish_answer();
  Want linger();

  Channel channel_;
  Application& application_;
  const Options options_;
  State state_ = State::kHead;
  std::atomic<bool> closes_{false};
  bool ends_after_answer_ = false;
  bool leaves_body_ = false;  // what the client still sends is not wanted
  bool is_body_chunked_ = false;
  bool body_done_ = true;
  bool has_sent_ = false;         // some of the answer
  bool has_input_ended_ = false;  // only the loop touches it
  std::uint64_t requests_ = 0;
  // What this turn of the loop has done for the connection.
  std::uint64_t turn_requests_ = 0;
  std::uint64_t turn_bytes_ = 0;
  std::size_t lingered_bytes_ = 0;
  std::string input_;         // came and is not used yet
  std::size_t searched_ = 0;  // of it, for the end of a head
  std::string output_;        // to be sent first
  std::size_t output_sent_ = 0;
  Answer answer_;
  Counted counted_;  // the request whose answer is being sent, if the connection counts it
  std::vector<LocalExtent> window_;  // of the object that is being sent
  std::size_t window_at_ = 0;
  std::unique_ptr<Active> active_;
  // Of the request, and of the request until its answer begins; made anew on the loop, where
  // cancel() is called.
  std::stop_source stop_;
  std::stop_source unanswered_;
};

}  // namespace leat::doors::http
