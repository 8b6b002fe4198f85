#include "leat/doors/http/native/batch_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "leat/base/url.h"

namespace leat::doors::http::native {
namespace {

using Json = nlohmann::json;

Error invalid(std::string message) {
  return Error(ErrorCode::kInvalidArgument, std::move(message));
}

// Reads the text as it goes by, so that it costs no more memory than its items, and stops at the
// first thing that is wrong.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  Result<BatchRequest> result() && {
    if (error_) return *std::move(error_);
    if (depth_ != 0 || !is_whole_) return invalid("the batch is not JSON");
    for (const Item& item : items_) {
      const std::string& bucket = item.bucket.empty() ? bucket_ : item.bucket;
      if (bucket.empty()) return invalid("an item of the batch has no bucket");
      ASSIGN_OR_RETURN(const std::uint16_t number, number_of(bucket));
      request_.list.items.push_back({request_.texts.emplace_back(item.name), item.range, number});
    }
    return std::move(request_);
  }

  bool null() override { return fail("null has no place in a batch"); }
  bool boolean(bool /*value*/) override { return fail("a boolean has no place in a batch"); }
  bool number_integer(number_integer_t /*value*/) override {
    return fail("offsets and lengths are not negative");
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ == 3 && key_ == "offset") {
      item_.range.offset = value;
    } else if (depth_ == 3 && key_ == "length") {
      item_.range.length = value;
    } else {
      return fail("a number that is neither offset nor length");
    }
    return true;
  }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    return fail("offsets and lengths are whole numbers");
  }
  bool binary(binary_t& /*value*/) override { return fail("not JSON"); }

  bool string(string_t& value) override {
    if (depth_ == 3 && key_ == "name") {
      auto name = percent_decode(value);
      if (!name.ok()) return fail("a name is not percent-encoded");
      item_.name = *std::move(name);
      has_name_ = true;
    } else if (depth_ == 3 && key_ == "bucket") {
      item_.bucket = value;
    } else if (depth_ == 1 && key_ == "bucket") {
      bucket_ = value;
    } else if (depth_ == 1 && key_ == "format") {
      const auto format = parse_batch_format(value);
      if (!format.ok()) return fail(std::string(format.error().message()));
      request_.format = *format;
    } else {
      return fail("unknown key in the batch: " + key_.substr(0, 50));
    }
    return true;
  }
  bool key(string_t& value) override {
    key_ = value;
    return true;
  }

  // Depths: 1 the whole, 2 the list of items, 3 an item.
  bool start_object(std::size_t /*count*/) override {
    ++depth_;
    if (depth_ != 1 && depth_ != 3) return fail("the batch is nested in another way");
    if (depth_ == 3) {
      item_ = Item();
      has_name_ = false;
    }
    return true;
  }
  bool end_object() override {
    if (depth_ == 3) {
      if (!has_name_) return fail("an item of the batch has no name");
      if (items_.size() == wire::kMaxBatchItems) {
        error_ = Error(ErrorCode::kTooLarge, "too many items in a batch");
        return false;
      }
      items_.push_back(std::move(item_));
    }
    is_whole_ = depth_ == 1;
    --depth_;
    return true;
  }
  bool start_array(std::size_t /*count*/) override {
    ++depth_;
    return depth_ == 2 && key_ == "items" ? true : fail("the batch is nested in another way");
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return fail("the batch is not JSON");
  }

 private:
  struct Item {
    std::string bucket;
    std::string name;
    ByteRange range;
  };

  bool fail(std::string message) {
    if (!error_) error_ = invalid(std::move(message));
    return false;
  }

  // The position of a bucket among those of the list, to which it is added when it is new.
  Result<std::uint16_t> number_of(const std::string& bucket) {
    auto& buckets = request_.list.buckets;
    auto it = std::find(buckets.begin(), buckets.end(), bucket);
    if (it == buckets.end()) {
      if (buckets.size() == wire::kMaxBatchBuckets) {
        return Error(ErrorCode::kTooLarge, "too many buckets in a batch");
      }
      buckets.push_back(request_.texts.emplace_back(bucket));
      it = std::prev(buckets.end());
    }
    return static_cast<std::uint16_t>(it - buckets.begin());
  }

  BatchRequest request_;
  std::vector<Item> items_;
  std::string bucket_;
  Item item_;
  std::string key_;
  bool has_name_ = false;
  bool is_whole_ = false;
  int depth_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<BatchFormat> parse_batch_format(std::string_view text) {
  if (text == "tar") return BatchFormat::kTar;
  if (text == "frames") return BatchFormat::kFrames;
  return invalid("the format of a batch is \"tar\" or \"frames\"");
}

Result<BatchRequest> parse_batch_json(std::string_view text) {
  if (text.size() > wire::kMaxBatchBytes) {
    return Error(ErrorCode::kTooLarge, "the batch is too long");
  }
  Reader reader;
  (void)Json::sax_parse(text, &reader);
  return std::move(reader).result();
}

}  // namespace leat::doors::http::native
