#include "leat/local/upload_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "leat/local/uploads.h"

namespace leat::local {
namespace {

constexpr std::string_view kUploadMark("\0upload\0", 8);
constexpr std::string_view kPartMark("\0part\0", 6);
constexpr std::size_t kIdDigits = 32;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string upload_prefix(std::string_view bucket) {
  return fmt::format("{}/{}", bucket, kUploadMark);
}

std::string upload_key(std::string_view bucket, std::string_view name, std::string_view id) {
  return fmt::format("{}{}{}{}", upload_prefix(bucket), name, '\0', id);
}

std::string part_prefix(std::string_view bucket, std::string_view name, std::string_view id) {
  return fmt::format("{}/{}{}{}{}", bucket, name, kPartMark, id, '\0');
}

std::string part_key(std::string_view bucket, std::string_view name, std::string_view id,
                     std::uint32_t number) {
  return fmt::format("{}{:05}", part_prefix(bucket, name, id), number);
}

bool is_upload_or_part(std::string_view key) noexcept {
  const std::size_t nul = key.find('\0');
  if (nul == key.npos) return false;
  const std::string_view rest = key.substr(nul);
  return rest.starts_with(kUploadMark) || rest.starts_with(kPartMark);
}

std::optional<std::string> upload_of_part(std::string_view key) {
  const std::size_t nul = key.find('\0');
  const std::size_t slash = key.find('/');
  if (nul == key.npos || slash > nul || !key.substr(nul).starts_with(kPartMark)) {
    return std::nullopt;
  }
  const std::string_view id = key.substr(nul + kPartMark.size(), kIdDigits);
  return upload_key(key.substr(0, slash), key.substr(slash + 1, nul - slash - 1), id);
}

std::string make_upload_id(std::int64_t created_ns, std::uint64_t unique_number) {
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(created_ns), unique_number);
}

bool is_upload_id(std::string_view text) noexcept {
  return text.size() == kIdDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string encode_part_sizes(std::span<const std::uint64_t> sizes) {
  std::string text;
  for (std::size_t i = 0; i < sizes.size();) {
    std::size_t end = i;
    while (end < sizes.size() && sizes[end] == sizes[i]) ++end;
    if (!text.empty()) text += ',';
    text += end - i == 1 ? fmt::format("{}", sizes[i]) : fmt::format("{}*{}", sizes[i], end - i);
    i = end;
  }
  return text;
}

std::vector<std::uint64_t> decode_part_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  while (!text.empty()) {
    const std::string_view run = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), run.size() + 1));
    const std::size_t star = run.find('*');
    const auto size = parse_number<std::uint64_t>(run.substr(0, star));
    const auto count = star == run.npos ? std::optional<std::size_t>(1)
                                        : parse_number<std::size_t>(run.substr(star + 1));
    if (!size || !count || *count > kMaxPartNumber - sizes.size()) return {};
    sizes.insert(sizes.end(), *count, *size);
  }
  return sizes;
}

}  // namespace leat::local
