// BatchEncoder: how the answer to a batch looks, item after item: as a tar for ordinary tools, or
// as frames (wire/batch.h) for our own client.
//
// In the tar an item is an entry under its name, "BUCKET/NAME" when the batch is about several
// buckets. An item that cannot be given is an entry ".leat-error/INDEX.json" in its place, where
// INDEX counts the items of the batch from 0. For one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "leat/base/error.h"
#include "leat/doors/http/native/batch_request.h"

namespace leat::doors::http::native {

class BatchEncoder {
 public:
  // `list` outlives the encoder.
  static std::unique_ptr<BatchEncoder> make(BatchFormat format, const wire::BatchList& list);
  BatchEncoder() = default;
  BatchEncoder(const BatchEncoder&) = delete;
  BatchEncoder& operator=(const BatchEncoder&) = delete;
  virtual ~BatchEncoder() = default;

  virtual std::string_view content_type() const = 0;
  // What an item adds to its bytes, about.
  virtual std::size_t overhead_bytes() const = 0;

  virtual void begin(std::string& target) = 0;
  // Whether this form can hold such an item; if not, its error is told instead.
  virtual Status check(std::size_t index) const = 0;
  // An item is its head, so many bytes, its tail.
  virtual void begin_item(std::string& target, std::size_t index, std::uint64_t length) = 0;
  virtual void end_item(std::string& target, std::uint64_t length) = 0;
  virtual void add_error(std::string& target, std::size_t index, const Error& error) = 0;
  virtual void end(std::string& target) = 0;
};

}  // namespace leat::doors::http::native
