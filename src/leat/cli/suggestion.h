// The known word that is most like what was typed. A pure function, thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leat::cli {

// Nothing when no word is near enough to be what was meant.
std::optional<std::string> nearest_word(std::string_view typed, std::span<const std::string> known);

}  // namespace leat::cli
