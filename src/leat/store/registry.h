// Every store has a URL; this is the only place that knows which scheme means which driver.
//
// A driver offers a factory for its scheme; the program that links the drivers builds a Registry
// from them (drivers/all.h). A Registry is immutable after it was built, and thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/result.h"
#include "leat/base/url.h"
#include "leat/store/object_store.h"

namespace leat {

// What a URL names: a store, and a name or prefix within it ("" is the whole store).
struct StoreLocation {
  std::shared_ptr<ObjectStore> store;
  std::string name;
};

// Whether a store that does not exist yet may be made.
enum class IfMissing : std::uint8_t { kFail, kCreate };

class Registry {
 public:
  using Factory = std::function<Result<StoreLocation>(const Url& url, IfMissing if_missing)>;

  void add(std::string scheme, Factory factory);

  // kInvalidArgument with the known schemes when the scheme is unknown.
  Result<StoreLocation> open(std::string_view url, IfMissing if_missing) const;
  std::vector<std::string> schemes() const;

 private:
  std::map<std::string, Factory, std::less<>> factories_;
};

}  // namespace leat
