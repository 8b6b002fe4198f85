// ConfigSchema: which settings a TOML file may hold, and where their values go.
//
// Code binds its option structs, then loads a file over them:
//
//   ConfigSchema schema;
//   schema.section("store")
//       .size("pack_size", &options.pack_size_bytes, "of a file of small objects")
//       .duration("timeout", &options.timeout, "of one operation");
//   RETURN_IF_ERROR(schema.load_file("leat.toml"));
//
// A file is taken as a whole or not at all: an unknown key, a wrong type or a value out of bounds
// is an error that names file, line and the nearest known key, all errors of a file come together,
// and then no target was touched. Keys that the file does not mention keep the value of their
// target, which is therefore the default.
//
// For one thread at a time; the targets must outlive the schema.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leat/base/result.h"
#include "leat/base/toml_document.h"

namespace leat {

class ConfigSchema {
 public:
  class Section {
   public:
    // A string such as "64MiB", or a number of bytes.
    Section& size(std::string key, std::uint64_t* target, std::string help);
    // A string such as "1.5s".
    Section& duration(std::string key, std::chrono::nanoseconds* target, std::string help);
    Section& string(std::string key, std::string* target, std::string help);
    Section& string_list(std::string key, std::vector<std::string>* target, std::string help);
    Section& boolean(std::string key, bool* target, std::string help);
    // Between `min` and `max`, both allowed.
    template <std::integral Integer>
    Section& integer(std::string key, Integer* target, Integer min, Integer max, std::string help);
    // One of the given words.
    template <typename Choice>
    Section& choice(std::string key, Choice* target,
                    std::vector<std::pair<std::string, std::type_identity_t<Choice>>> words,
                    std::string help);

   private:
    friend class ConfigSchema;
    using Assignment = std::function<void()>;
    struct Option {
      std::string help;
      // What to do if the whole file is good, or what the option expects instead of the value.
      std::function<Result<Assignment>(const TomlValue&)> accept;
      std::function<std::string()> show;  // the current value as TOML
    };

    Section& add(std::string key, Option option);
    Section& add_integer(std::string key, std::int64_t min, std::int64_t max, std::string help,
                         std::function<void(std::int64_t)> set, std::function<std::int64_t()> get);
    Section& add_choice(std::string key, std::vector<std::string> words, std::string help,
                        std::function<void(std::size_t)> set, std::function<std::size_t()> get);

    std::map<std::string, Option, std::less<>> options_;
  };

  // "store", "store.cache" for a section within a section, "" for what stands before all sections.
  // The reference lives as long as the schema.
  Section& section(std::string name);

  // `file` is how messages call the text. kInvalidArgument with one line per error.
  Status load(std::string_view text, std::string_view file);
  // kNotFound when there is no such file, kTooLarge above kMaxFileBytes.
  Status load_file(const std::string& path);
  static constexpr std::size_t kMaxFileBytes = 1 << 20;

  // A file with every option, its help and its current value.
  std::string to_toml() const;

 private:
  class Loader;
  std::map<std::string, Section> sections_;
};

template <std::integral Integer>
ConfigSchema::Section& ConfigSchema::Section::integer(std::string key, Integer* target, Integer min,
                                                      Integer max, std::string help) {
  // TOML has no integers above this; the target may.
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const auto clamp = [](Integer value) {
    return std::cmp_greater(value, kMost) ? kMost : static_cast<std::int64_t>(value);
  };
  return add_integer(
      std::move(key), clamp(min), clamp(max), std::move(help),
      [target](std::int64_t value) { *target = static_cast<Integer>(value); },
      [target, clamp] { return clamp(*target); });
}

template <typename Choice>
ConfigSchema::Section& ConfigSchema::Section::choice(
    std::string key, Choice* target,
    std::vector<std::pair<std::string, std::type_identity_t<Choice>>> words, std::string help) {
  std::vector<std::string> names;
  std::vector<Choice> values;
  for (auto& [name, value] : words) {
    names.push_back(std::move(name));
    values.push_back(std::move(value));
  }
  const auto current = [target, values] {
    std::size_t i = 0;
    while (i < values.size() && values[i] != *target) ++i;
    return i;
  };
  return add_choice(
      std::move(key), std::move(names), std::move(help),
      [target, values](std::size_t i) { *target = values[i]; }, current);
}

}  // namespace leat
