#include "leat/drivers/all.h"

#include "leat/drivers/leat/leat_store.h"
#include "leat/drivers/memory/memory_store.h"
#include "leat/drivers/null/null_store.h"
#include "leat/drivers/posix/posix_store.h"
#include "leat/drivers/web/web_store.h"

namespace leat {

Registry all_drivers() {
  Registry registry;
  register_leat(registry);
  register_memory(registry);
  register_null(registry);
  register_posix(registry);
  register_web(registry);
  return registry;
}

}  // namespace leat
