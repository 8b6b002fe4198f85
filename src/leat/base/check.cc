#include "leat/base/check.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace leat {

void check_failed(const char* condition, const char* file, int line) noexcept {
  const std::string text = std::string("leat: broken invariant: ") + condition + " at " + file +
                           ":" + std::to_string(line) + "\n";
  (void)!write(STDERR_FILENO, text.data(), text.size());  // the last words of an aborting process
  std::abort();
}

}  // namespace leat
