// Access: who may do what.
//
// Keys are kept in a file that only its owner may read, one a line:
//   ACCESS-KEY SECRET RIGHT[:BUCKET[/PREFIX]]…
// RIGHT is "read", "write" (which includes reading) or "admin" (which includes everything, and to
// make and remove buckets); without a bucket it holds for all. '#' begins a comment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"

namespace leat::doors::http {

enum class Right : std::uint8_t { kRead, kWrite, kAdmin };  // each includes those before it

struct Grant {
  Right right = Right::kRead;
  std::string bucket;  // empty: every bucket
  std::string prefix;  // of names
};

// A line of the file.
struct KeyLine {
  std::string id;
  std::string secret;
  std::string rights;  // as written
  std::vector<Grant> grants;
};
// kInvalidArgument names the line and never shows a secret.
Result<std::vector<KeyLine>> parse_keys(std::string_view text);

// What requests without a signature may do.
enum class Anonymous : std::uint8_t { kNothing, kRead, kWrite };

// Immutable; safe for concurrent use.
class Access {
 public:
  explicit Access(Anonymous anonymous = Anonymous::kNothing) : anonymous_(anonymous) {}

  // The keys of a file's text, as parse_keys() reads it.
  Status add_keys(std::string_view text);
  void add_key(std::string id, std::string secret, std::vector<Grant> grants);

  std::optional<std::string> secret_of(std::string_view access_key) const;
  // An empty key is nobody. `bucket` is empty for what concerns all buckets; `name` is a name, or
  // the prefix of a listing.
  bool allows(std::string_view access_key, Right right, std::string_view bucket,
              std::string_view name) const;
  // Whether there is a name in the bucket with which that is allowed.
  bool allows_some(std::string_view access_key, Right right, std::string_view bucket) const;
  std::size_t size() const noexcept { return keys_.size(); }

 private:
  struct Key {
    std::string secret;
    std::vector<Grant> grants;
  };
  bool allows_anybody(Right right) const noexcept;

  Anonymous anonymous_;
  std::map<std::string, Key, std::less<>> keys_;
};

// A new line for the file, without its end. `rights` are words as in the file.
Result<std::string> make_key(std::string_view rights);

}  // namespace leat::doors::http
