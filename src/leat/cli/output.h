// Output: everything that the command line writes, for people or, with --json, for programs.
//
// Results go to standard output, everything else to standard error. Names are any bytes:
//   - for people, control characters, bytes that are not UTF-8 and '%' are written as %XX, as in a
//     URL: no name can forge a line or garble a terminal;
//   - in JSON, "name" has U+FFFD for what is not UTF-8, and then "name_encoded" holds the exact
//     name, percent-encoded.
// For one thread at a time.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/error.h"
#include "leat/store/object_store.h"

namespace leat::cli {

using Json = nlohmann::ordered_json;

struct OutputOptions {
  bool json = false;
  bool quiet = false;
};

class Output {
 public:
  explicit Output(OutputOptions options) : options_(options) {}

  bool is_json() const noexcept { return options_.json; }
  bool is_quiet() const noexcept { return options_.quiet; }

  // A line of the result.
  void line(std::string_view text);
  void json(const Json& document);
  // The lines of aligned().
  void table(const std::vector<std::vector<std::string>>& rows, std::string_view right = {});
  // For people who watch: not with --quiet or --json.
  void summary(std::string_view text);
  // On standard error; not with --quiet.
  void note(std::string_view text);
  // "leat: cannot WHAT: reason" and "try: ADVICE" on standard error; with --json one JSON line.
  void error(std::string_view what, const Error& error, std::string_view advice);
  void usage_error(std::string_view message, std::string_view advice);
  // False when standard output did not take everything.
  bool flush();

 private:
  void write_error(std::string_view message, std::string_view code, std::string_view advice);

  const OutputOptions options_;
};

// The lines of a table with aligned columns; the columns named by `right` are aligned to the right.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows,
                                 std::string_view right = {});

std::string printable(std::string_view name);
// Sets `key`, and `key`_encoded where needed.
void set_name(Json& object, const std::string& key, std::string_view name);
// "2026-01-31T12:00:00Z".
std::string time_text(std::int64_t wall_ns);
// "1 object", "2 objects".
std::string counted(std::uint64_t count, std::string_view noun);

// What is known of an object, without its name.
void set_info(Json& object, const ObjectInfo& info);

}  // namespace leat::cli
