// Address: which bucket and object a request is about.
//
// Path style: /bucket/key. Virtual-host style: Host is "bucket." and one of the server's own names,
// and the whole path is the key.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "leat/base/result.h"
#include "leat/http/request_head.h"

namespace leat::doors::http::s3 {

struct Address {
  std::string bucket;  // empty: the service itself
  std::string key;     // empty: the bucket
};

// The bucket that a host names under one of `domains`, which are in lower case; empty when it is
// the server's own name or a stranger's.
std::string_view bucket_of_host(std::string_view host, std::span<const std::string> domains);

// `domains`: the names under which buckets are hosts. kInvalidArgument for a malformed path.
Result<Address> address_of(const leat::http::RequestHead& head,
                           std::span<const std::string> domains);

}  // namespace leat::doors::http::s3
