// The file of access keys: where it is, and its first key.
//
// One file a user, which only its owner may read; lines are as in access.h. The server makes it
// at its first start; commands on the same machine take their key from its first line.
#pragma once

#include <string>

#include "leat/base/result.h"

namespace leat::doors::http {

// $XDG_CONFIG_HOME/leat/keys or ~/.config/leat/keys; empty when neither is known.
std::string default_key_file();

// The text of the file. kPermissionDenied when others may read it too.
Result<std::string> read_key_file(const std::string& path);

// Makes the file with one key that may do everything. kAlreadyExists when there is one.
Status make_key_file(const std::string& path);
// Adds a line to it.
Status append_to_key_file(const std::string& path, const std::string& line);

}  // namespace leat::doors::http
