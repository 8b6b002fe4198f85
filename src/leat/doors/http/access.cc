#include "leat/doors/http/access.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace leat::doors::http {
namespace {

constexpr std::string_view kSpaces = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t begin = line.find_first_not_of(kSpaces);
    if (begin == line.npos) return words;
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find_first_of(kSpaces)));
    line.remove_prefix(words.back().size());
  }
}

std::optional<Grant> parse_grant(std::string_view word) {
  Grant grant;
  const std::string_view right = word.substr(0, word.find(':'));
  if (right == "read") {
    grant.right = Right::kRead;
  } else if (right == "write") {
    grant.right = Right::kWrite;
  } else if (right == "admin") {
    grant.right = Right::kAdmin;
  } else {
    return std::nullopt;
  }
  if (right.size() == word.size()) return grant;
  const std::string_view place = word.substr(right.size() + 1);
  const std::size_t slash = std::min(place.find('/'), place.size());
  grant.bucket = place.substr(0, slash);
  if (grant.bucket.empty()) return std::nullopt;
  if (slash < place.size()) grant.prefix = place.substr(slash + 1);
  return grant;
}

bool covers(const Grant& grant, Right right, std::string_view bucket, std::string_view name) {
  if (grant.right < right) return false;
  if (grant.bucket.empty()) return true;
  return grant.bucket == bucket && name.starts_with(grant.prefix);
}

// Characters that no shell, URL or header treats in a special way.
Result<std::string> random_word(std::string_view alphabet, std::size_t length) {
  std::string word;
  while (word.size() < length) {
    std::array<unsigned char, 64> bytes;
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      return Error::from_errno(errno, "getrandom");
    }
    const std::size_t even = 256 / alphabet.size() * alphabet.size();
    for (const unsigned char byte : bytes) {
      if (byte < even && word.size() < length) word += alphabet[byte % alphabet.size()];
    }
  }
  return word;
}

}  // namespace

Result<std::vector<KeyLine>> parse_keys(std::string_view text) {
  std::vector<KeyLine> keys;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (words.size() < 3) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("line {}: not \"ACCESS-KEY SECRET RIGHT…\"", number));
    }
    KeyLine key{std::string(words[0]), std::string(words[1]), "", {}};
    for (const std::string_view word : std::span(words).subspan(2)) {
      auto grant = parse_grant(word);
      if (!grant) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("line {}: '{}' is not read, write or admin, with or without "
                                 ":BUCKET/PREFIX",
                                 number, word));
      }
      key.grants.push_back(*std::move(grant));
    }
    key.rights = fmt::format("{}", fmt::join(words.begin() + 2, words.end(), " "));
    const bool is_twice = std::any_of(keys.begin(), keys.end(),
                                      [&](const KeyLine& other) { return other.id == key.id; });
    if (is_twice) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("line {}: there is a key {} already", number, key.id));
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

Status Access::add_keys(std::string_view text) {
  ASSIGN_OR_RETURN(auto keys, parse_keys(text));
  for (KeyLine& key : keys) {
    add_key(std::move(key.id), std::move(key.secret), std::move(key.grants));
  }
  return ok_status();
}

void Access::add_key(std::string id, std::string secret, std::vector<Grant> grants) {
  keys_[std::move(id)] = {std::move(secret), std::move(grants)};
}

std::optional<std::string> Access::secret_of(std::string_view access_key) const {
  const auto it = keys_.find(access_key);
  if (it == keys_.end()) return std::nullopt;
  return it->second.secret;
}

bool Access::allows_anybody(Right right) const noexcept {
  return anonymous_ == Anonymous::kWrite ||
         (anonymous_ == Anonymous::kRead && right == Right::kRead);
}

bool Access::allows_some(std::string_view access_key, Right right, std::string_view bucket) const {
  if (allows_anybody(right)) return true;
  const auto it = keys_.find(access_key);
  if (it == keys_.end()) return false;
  return std::any_of(it->second.grants.begin(), it->second.grants.end(), [&](const Grant& grant) {
    return covers(grant, right, bucket, grant.prefix);
  });
}

bool Access::allows(std::string_view access_key, Right right, std::string_view bucket,
                    std::string_view name) const {
  if (allows_anybody(right)) return true;
  const auto it = keys_.find(access_key);
  if (it == keys_.end()) return false;
  return std::any_of(it->second.grants.begin(), it->second.grants.end(),
                     [&](const Grant& grant) { return covers(grant, right, bucket, name); });
}

Result<std::string> make_key(std::string_view rights) {
  ASSIGN_OR_RETURN(const auto id, random_word("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16));
  ASSIGN_OR_RETURN(
      const auto secret,
      random_word("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 40));
  return fmt::format("LEAT{} {} {}", id, secret, rights);
}

}  // namespace leat::doors::http
