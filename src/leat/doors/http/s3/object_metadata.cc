#include "leat/doors/http/s3/object_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "leat/doors/http/s3/operation.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::array<std::string_view, 6> kContentHeaders{"cache-control",    "content-disposition",
                                                          "content-encoding", "content-language",
                                                          "content-type",     "expires"};

// S3 takes 2 KiB; with the headers of the content there is room for 8 in an answer of any client.
constexpr std::size_t kMostMetadataBytes = 8 << 10;

constexpr std::array<std::string_view, 6> kUnhonouredPrefixes{
    "x-amz-grant-",  "x-amz-object-lock-",      "x-amz-tagging", "x-amz-server-side-encryption",
    "x-amz-website", "x-amz-write-offset-bytes"};

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

// "aws-chunked" is how it came, not what it is: "aws-chunked,gzip" is gzip.
std::string without_transfer_encoding(std::string_view encodings) {
  std::string kept;
  while (!encodings.empty()) {
    std::string_view one = encodings.substr(0, encodings.find(','));
    encodings.remove_prefix(std::min(encodings.size(), one.size() + 1));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one.empty() || one == "aws-chunked") continue;
    if (!kept.empty()) kept += ", ";
    kept += one;
  }
  return kept;
}

bool is_unhonoured(std::string_view name, std::string_view value) {
  // One owner has everything, so these two ask for what is.
  if (name == "x-amz-acl") return value != "private" && value != "bucket-owner-full-control";
  // Copies take the tags along: there are none.
  if (name == "x-amz-tagging-directive") return value != "COPY";
  return std::any_of(kUnhonouredPrefixes.begin(), kUnhonouredPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

bool is_content_header(std::string_view lower_case_name) {
  return std::find(kContentHeaders.begin(), kContentHeaders.end(), lower_case_name) !=
         kContentHeaders.end();
}

Metadata metadata_of(const leat::http::RequestHead& head) {
  Metadata metadata;
  for (const leat::http::Header& sent : head.headers()) {
    const std::string name = to_lower(sent.name);
    if (name.starts_with(kUserPrefix)) {
      metadata.user[name.substr(kUserPrefix.size())] = sent.value;
      continue;
    }
    if (!is_content_header(name)) continue;
    const std::string value = name == "content-encoding" ? without_transfer_encoding(sent.value)
                                                         : std::string(sent.value);
    // What S3 answers when nothing was given need not be kept.
    const bool is_default = name == "content-type" && value == kDefaultContentType;
    if (!value.empty() && !is_default) metadata.headers[name] = value;
  }
  return metadata;
}

std::optional<S3Error> refuse_unhonoured(const leat::http::RequestHead& head) {
  std::size_t metadata_bytes = 0;
  for (const leat::http::Header& header : head.headers()) {
    const std::string name = to_lower(header.name);
    if (name.starts_with(kUserPrefix) || is_content_header(name)) {
      metadata_bytes += name.size() + header.value.size();
    }
    if (is_unhonoured(name, header.value)) {
      return S3Error{501, "NotImplemented", fmt::format("{} is not supported", name)};
    }
    if (name == "x-amz-storage-class" && header.value != "STANDARD" &&
        header.value != "REDUCED_REDUNDANCY") {
      return S3Error{400, "InvalidStorageClass", "there is one storage class, STANDARD"};
    }
  }
  if (metadata_bytes > kMostMetadataBytes) {
    return S3Error{400, "MetadataTooLarge", "the metadata is longer than 8 KiB"};
  }
  return std::nullopt;
}

}  // namespace leat::doors::http::s3
