// PlainStore: the least that is an ObjectStore, for tests of what stands on one.
//
// Bytes in a map behind a mutex; no preconditions, generations or metadata, and the default
// read_batch() and copy(). It passes the contract suite, and so proves that the suite accepts a
// store of few capabilities. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/mutex.h"
#include "leat/store/object_store.h"

namespace leat::testing {

class PlainStore final : public ObjectStore {
 public:
  PlainStore();

  std::string_view url() const noexcept override { return "plain:"; }
  Capabilities capabilities() const noexcept override;
  Result<ObjectInfo> stat(std::string_view name, const Context& context) override;
  Result<ListPage> list(const ListRequest& request, const Context& context) override;
  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override;
  Result<std::unique_ptr<ObjectWriter>> create(std::string_view name, const CreateOptions& options,
                                               const Context& context) override;
  Status remove(std::string_view name, const RemoveOptions& options,
                const Context& context) override;

  // Changes one byte of an object and nothing of what is said about it, as a bad disk does.
  // REQUIRES: the object has this byte.
  void damage(std::string_view name, std::size_t offset);
  // Says from now on that the object has this checksum, as a store that keeps one would.
  void report_crc32c(std::string_view name, std::uint32_t crc32c);

 private:
  class Cursor;
  class Reader;
  class Writer;
  struct Object {
    ObjectInfo info;
    std::vector<std::byte> bytes;
  };
  // Shared with the writers, which may outlive the store.
  struct State {
    Mutex mutex;
    std::map<std::string, std::shared_ptr<const Object>, std::less<>> objects GUARDED_BY(mutex);
    std::uint64_t versions GUARDED_BY(mutex) = 0;
  };

  Result<std::shared_ptr<const Object>> find(std::string_view name, const Context& context);
  void change(std::string_view name, const std::function<void(Object&)>& edit);

  const std::shared_ptr<State> state_;
};

}  // namespace leat::testing
