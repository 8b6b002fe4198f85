// LeatUrl: what a `leat:` URL names: a server, a bucket of it, and a name in that.
//
//   leat://HOST[:PORT][/BUCKET[/NAME]][?keys=FILE]
//
// `leats:` is the same over TLS. The port is 9000 unless given; an IPv6 address stands in brackets.
// Bucket and name are percent-encoded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leat/base/result.h"
#include "leat/base/url.h"

namespace leat {

inline constexpr std::string_view kLeatScheme = "leat";
inline constexpr std::string_view kLeatTlsScheme = "leats";
inline constexpr std::uint16_t kLeatPort = 9000;

struct LeatUrl {
  std::string scheme;
  std::string host;
  std::uint16_t port = kLeatPort;
  std::string bucket;  // empty: the server itself
  std::string name;
  std::string keys;  // the file of the access key; empty: the usual ones

  // The URL of the server alone.
  std::string server_url() const;
};

// kInvalidArgument says what is wrong.
Result<LeatUrl> parse_leat_url(const Url& url);

}  // namespace leat
