// What protects a server on somebody's machine from the web pages that they visit.
//
// A page can make its own name point to 127.0.0.1 (DNS rebinding), so the Host must be one of ours;
// it can send simple requests anywhere, so an Origin must be the Host itself, and what changes
// something by the native API needs a header that only our own callers send. None of this matters
// for a request that is signed in its headers: no page can make one. Pure functions, thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "leat/base/result.h"
#include "leat/http/request_head.h"

namespace leat::doors::http {

// An address, "localhost", or one of `names`; with or without a port.
bool is_own_host(std::string_view host, std::span<const std::string> names);

// kPermissionDenied for what a stranger's page has sent, as far as Host and Origin tell.
Status check_host_and_origin(const leat::http::RequestHead& head,
                             std::span<const std::string> names);

// The same, and what changes something must show the header.
Status check_sender(const leat::http::RequestHead& head, std::span<const std::string> names);

}  // namespace leat::doors::http
