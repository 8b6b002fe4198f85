// The file of access keys, as the server makes it at its first start; lines are as in access.h.
#pragma once

#include <string>

#include "leat/base/result.h"
#include "leat/http/key_file.h"

namespace leat::doors::http {

using leat::http::default_key_file;
using leat::http::read_key_file;

// Makes the file with one key. kAlreadyExists when there is a file.
Status make_key_file(const std::string& path, const std::string& line);
// Adds a line to it. An error when others may read it.
Status append_to_key_file(const std::string& path, const std::string& line);

}  // namespace leat::doors::http
