// Every driver that this build has: the one list of them.
//
// Programs call all_drivers() once and open stores by URL; nothing else names a driver.
#pragma once

#include "leat/store/registry.h"

namespace leat {

Registry all_drivers();

}  // namespace leat
