// Any text as a configuration: it is taken as a whole or refused as a whole, and what was taken
// can be written and read again.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/check.h"
#include "leat/base/config.h"

namespace leat {
namespace {

enum class Mode : std::uint8_t { kFast, kSafe };

struct Options {
  std::string name = "node";
  std::uint64_t pack_size_bytes = 64 << 20;
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::int32_t threads = 4;
  bool verify = true;
  Mode mode = Mode::kSafe;
  std::vector<std::string> drives;
};

void bind(ConfigSchema& schema, Options& options) {
  schema.section("").string("name", &options.name, "how this node is called");
  schema.section("store")
      .size("pack_size", &options.pack_size_bytes, "of a file of small objects")
      .duration("timeout", &options.timeout, "of one operation")
      .integer("threads", &options.threads, -7, 64, "that read")
      .boolean("verify", &options.verify, "checksums")
      .choice("mode", &options.mode, {{"fast", Mode::kFast}, {"safe", Mode::kSafe}}, "of writing");
  schema.section("store.cache").string_list("drives", &options.drives, "directories");
}

void check_message(std::string_view message) {
  CHECK(!message.empty());
  CHECK(message.size() < 20'000);
  for (const char c : message) CHECK(c == '\n' || (static_cast<unsigned char>(c) >= 0x20));
}

void check_text(std::string_view text) {
  Options options;
  ConfigSchema schema;
  bind(schema, options);
  const std::string before = schema.to_toml();
  const Status loaded = schema.load(text, "fuzz.toml");
  const std::string after = schema.to_toml();
  if (!loaded.ok()) {
    CHECK(after == before);
    check_message(loaded.error().message());
    return;
  }
  Options copy;
  ConfigSchema second;
  bind(second, copy);
  CHECK(second.load(after, "copy.toml").ok());
  CHECK(second.to_toml() == after);
  CHECK(copy.name == options.name && copy.drives == options.drives);
}

}  // namespace
}  // namespace leat

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  leat::check_text(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
