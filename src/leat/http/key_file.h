// The file of access keys, for those who sign requests with one and those who check them.
//
// One file a user, which only its owner may read, one key a line: ACCESS-KEY SECRET RIGHT…; '#'
// begins a comment. Commands take their key from its first line. Changes are whole or not there,
// and wait for each other, also between processes. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leat/base/result.h"
#include "leat/http/sigv4.h"

namespace leat::http {

// $XDG_CONFIG_HOME/leat/keys or ~/.config/leat/keys; empty when neither is known.
std::string default_key_file();

// The text of the file. kPermissionDenied when others may read it too.
Result<std::string> read_key_file(const std::string& path);

// Makes the file with one key. kAlreadyExists when there is a file.
Status make_key_file(const std::string& path, const std::string& line);
// Adds a line to it. An error when others may read it.
Status append_to_key_file(const std::string& path, const std::string& line);
// Takes the line of a key out of it. kNotFound when there is none.
Status remove_from_key_file(const std::string& path, std::string_view access_key);

// The key of the first line that has one.
std::optional<SigningKeys> first_key(std::string_view text);

// The key that this user signs with, if any: the first one of `file`; when that is empty, of the
// file that LEAT_KEYS names or of the user's own; failing these, AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, which `leat keys env` prints. A named file must be there and hold a key.
// "none" is not a file: requests are not signed, for servers that know none of this user's keys and
// ask for none.
Result<SigningKeys> find_signing_keys(const std::string& file);

}  // namespace leat::http
