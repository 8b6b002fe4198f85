#include "leat/cli/suggestion.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace leat::cli {
namespace {

// Insertions, deletions and replacements that make `b` of `a`.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view typed,
                                        std::span<const std::string> known) {
  std::optional<std::string> nearest;
  std::size_t fewest = std::max<std::size_t>(1, typed.size() / 2) + 1;
  for (const std::string& word : known) {
    const std::size_t edits = edits_between(typed, word);
    // All letters replaced is no resemblance.
    if (edits >= fewest || edits >= word.size()) continue;
    fewest = edits;
    nearest = word;
  }
  return nearest;
}

}  // namespace leat::cli
