#include "leat/http/authority.h"

#include <fmt/format.h>

#include <charconv>

namespace leat::http {

std::string Authority::to_string() const {
  const bool is_ipv6 = host.find(':') != host.npos;
  return fmt::format("{}{}{}:{}", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", port);
}

Result<Authority> parse_authority(std::string_view text, std::uint16_t usual_port) {
  const auto bad = [&](std::string_view why) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is not HOST:PORT: {}", text, why));
  };
  if (text.find('@') != text.npos) {
    return Error(ErrorCode::kInvalidArgument, "a URL is no place for user names and passwords");
  }
  Authority authority;
  authority.port = usual_port;
  std::string_view rest = text;
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    if (close == rest.npos) return bad("a bracket is missing");
    authority.host = rest.substr(1, close - 1);
    if (authority.host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos) {
      return bad("brackets are for IPv6 addresses");
    }
    rest.remove_prefix(close + 1);
  } else {
    authority.host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(authority.host.size());
    for (const char c : authority.host) {
      const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
      if (!is_plain) return bad("a host is made of letters, digits, '-' and '.'");
    }
  }
  if (authority.host.empty()) return bad("there is no host");
  if (rest.empty()) return authority;
  if (rest.front() != ':') return bad("what follows the address is not a port");
  rest.remove_prefix(1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), authority.port);
  if (rest.empty() || error != std::errc() || end != rest.data() + rest.size() ||
      authority.port == 0) {
    return bad("the port is a number up to 65535");
  }
  return authority;
}

std::string_view without_port(std::string_view host) noexcept {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.rfind(':'));
}

}  // namespace leat::http
