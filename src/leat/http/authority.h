// "host", "host:port", "[::1]:port": where a server is, as URLs say it. Pure, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/result.h"

namespace leat::http {

struct Authority {
  std::string host;  // without brackets
  std::uint16_t port = 0;

  // As in a URL, with the port.
  std::string to_string() const;
};

// kInvalidArgument for anything else, also for user names: a URL is no place for secrets.
Result<Authority> parse_authority(std::string_view text, std::uint16_t usual_port);

// The host of a Host header, whatever its port is: "[::1]:9000" -> "::1", "host" -> "host".
std::string_view without_port(std::string_view host) noexcept;

}  // namespace leat::http
