// Application: what answers requests; the S3 and the native API are two of them.
//
// The server (server.h) reads requests and sends answers; what they mean is decided here. A request
// goes one of two ways. answer_now() runs on the event loop: it may not wait for anything, and is
// for small answers out of memory. Everything else becomes an Exchange, whose functions run on a
// thread of the pool and may block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "leat/base/clock.h"
#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/doors/http/request_stats.h"
#include "leat/http/request_head.h"
#include "leat/store/object_store.h"

namespace leat::doors::http {

using leat::http::RequestHead;

// The bytes `range` of an object, sent from its files where it has some.
struct ObjectBody {
  std::shared_ptr<ObjectReader> reader;
  ByteRange range;  // within the object
};

// A body that is made while it is sent.
class BodySource {
 public:
  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;
  enum class Left : bool { kNothing, kMore };
  // Appends the next piece to `target` and says whether there are more. After an error the
  // connection is cut, so that nobody takes what came for the whole.
  virtual Result<Left> next(std::string& target, const Context& context) = 0;
  // The same on the event loop, if it needs no waiting. Nothing: it does, and nothing was done.
  virtual std::optional<Left> next_now(std::string& /*target*/) { return std::nullopt; }
};

struct Answer {
  int status = 200;
  // Whole lines, "Name: value\r\n". The connection adds Date, Connection and how long the body is.
  std::string headers;
  std::variant<std::string, ObjectBody, std::unique_ptr<BodySource>> body;
  // What a HEAD request would get with GET; the body stays empty then.
  std::optional<std::uint64_t> length_of_head;
};

// One request that needs more than a look into memory. Its functions are called one after another,
// on threads of the pool unless it never waits, with the Context of the request: cancelled when the
// client goes away.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  // False: whatever the body holds, the answer is known. It is not read then, and the connection
  // ends with the answer.
  virtual bool wants_body() const { return true; }
  // Whether consume() and respond() never wait for anything: then they run on the event loop.
  virtual bool never_waits() const { return false; }
  // The next piece of the body. After an error, which respond() tells, there are no more.
  virtual Status consume(std::span<const std::byte> piece, const Context& context) = 0;
  // After the whole body, or an error.
  virtual Answer respond(const Context& context) = 0;
};

// Room for an answer that is made on the loop.
struct QuickSpace {
  std::span<char> headers;
  std::span<std::byte> body;
};
// A request that the connection counts when its answer is out; without an operation, none.
struct Counted {
  RequestStats::Operation* operation = nullptr;
  MonotonicTime begin;
  int status = 0;
  std::uint64_t bytes = 0;
};
struct QuickAnswer {
  int status = 200;
  std::size_t header_bytes = 0;      // whole lines, as in Answer
  std::span<const std::byte> body;   // in the space, or anywhere that lasts until the next call
  std::optional<ObjectBody> object;  // instead of `body`
  Counted counted;
  std::optional<std::uint64_t> length_of_head;
};

// What is not even a request.
struct BadRequest {
  const RequestHead& head;  // as far as it was read; an empty path: not even that
  const Error& error;
  int status;  // of the answer
};

class Application {
 public:
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  virtual ~Application() = default;

  // For requests without a body. Nothing when it cannot be answered at once.
  virtual std::optional<QuickAnswer> answer_now(const RequestHead& head,
                                                const QuickSpace& space) = 0;
  // Never null. `head` lives as long as the exchange. May not block.
  virtual std::unique_ptr<Exchange> begin(const RequestHead& head) = 0;
  virtual Answer refuse(const BadRequest& request) = 0;
};

}  // namespace leat::doors::http
