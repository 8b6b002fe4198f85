// ObjectStore: the one interface of the system.
//
// A store is a flat, byte-ordered namespace of immutable objects; writing a name again replaces
// the object as a whole. A driver to a foreign system, a decorator, a bucket of the local store, a
// tier and the client of a cluster all implement it, so each can stand where any other stands.
// Doors, benchmarks and the loader are written against it and know no driver.
//
// To write a driver: derive from ObjectStore in src/leat/drivers/<name>/, implement the pure
// functions, say in capabilities() what the system cannot do, register the scheme
// (store/registry.h), and instantiate the contract suite (store/testing/contract.h). Override
// read_batch() if the system has a multi-get.
//
// Contract, for every store:
//   - Names are 1 to capabilities().max_name_bytes bytes, any byte but NUL; no name is special.
//   - After commit() or remove() returned, every thread sees the new state in every call.
//   - A reader sees one version, whole, whatever happens to the name after open().
//   - An error leaves the object as it was, or, if the system cannot know (a lost connection in
//     the middle of a commit), as one of old and new, never a mixture.
//   - Calls block, may run concurrently, and end soon after the Context's deadline or
//     cancellation. There is no asynchronous interface: parallelism is read_batch().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/result.h"

namespace leat {

inline constexpr std::uint64_t kToEnd = UINT64_MAX;
inline constexpr std::size_t kMaxNameBytes = 1024;

// Bytes offset .. offset+length. What lies past the end of the object is cut, never an error.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = kToEnd;

  // The part of an object of `size_bytes` that this range covers.
  ByteRange within(std::uint64_t size_bytes) const noexcept {
    if (offset >= size_bytes) return {size_bytes, 0};
    const std::uint64_t rest = size_bytes - offset;
    return {offset, length < rest ? length : rest};
  }
  bool operator==(const ByteRange&) const = default;
};

// What a user attached to an object. Immutable once committed.
struct Metadata {
  std::map<std::string, std::string> headers;    // content-type … by lower-case HTTP name
  std::map<std::string, std::string> user;       // x-amz-meta-*, without the prefix, lower-case
  std::map<std::string, std::string> checksums;  // beyond crc32c: "sha256" -> lower-case hex

  bool empty() const noexcept { return headers.empty() && user.empty() && checksums.empty(); }
  bool operator==(const Metadata&) const = default;
};

struct ObjectInfo {
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  // Grows with every change of the object in stores that have generations; else 0.
  std::uint64_t generation = 0;
  // Opaque; differs whenever the bytes do. Without quotes.
  std::string etag;
  std::optional<std::uint32_t> crc32c;
  // Null when there is none, or in listings of stores that do not list it.
  std::shared_ptr<const Metadata> metadata;
};

// A reader's bytes as ranges of local files, for sendfile, splice and io_uring.
struct LocalExtent {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// An object opened for reading, pinned to one version. Safe for concurrent use.
class ObjectReader {
 public:
  ObjectReader() = default;
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;
  virtual ~ObjectReader() = default;

  virtual const ObjectInfo& info() const noexcept = 0;
  // Fills `target` from `offset` on; returns the bytes read, fewer only at the end of the object.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> target,
                                      const Context& context) = 0;
  // The files that hold `range`, checked as read_at() would; valid while this reader lives.
  // kUnsupported when the bytes are not in local files.
  virtual Result<std::vector<LocalExtent>> local_extents(ByteRange range, const Context& context);
  // The same into `extents`, if that needs no waiting; false: ask local_extents(). For event loops.
  virtual bool local_extents_now(ByteRange range, std::vector<LocalExtent>& extents);
};

struct CommitOptions {
  // Replaces the etag that the store would choose (a door knows the MD5 only at the end).
  std::string etag;
  // Added to the metadata of CreateOptions.
  std::map<std::string, std::string> checksums;
};

// An object being written. Nobody sees it before commit() returns ok; destroying an uncommitted
// writer discards it and gives its space back. For one thread at a time.
class ObjectWriter {
 public:
  ObjectWriter() = default;
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;
  virtual ~ObjectWriter() = default;

  virtual Status append(std::span<const std::byte> bytes, const Context& context) = 0;
  // At most once; no append() after it.
  virtual Result<ObjectInfo> commit(const CommitOptions& options, const Context& context) = 0;
};

// The state in which an object must be for a change to happen; checked atomically with it.
struct Precondition {
  enum class Kind : std::uint8_t { kNone, kAbsent, kPresent, kEtag, kGeneration };
  Kind kind = Kind::kNone;
  std::string etag;
  std::uint64_t generation = 0;

  static Precondition none() { return {}; }
  static Precondition absent() { return {Kind::kAbsent, {}, 0}; }
  static Precondition present() { return {Kind::kPresent, {}, 0}; }
  static Precondition has_etag(std::string etag) { return {Kind::kEtag, std::move(etag), 0}; }
  static Precondition has_generation(std::uint64_t generation) {
    return {Kind::kGeneration, {}, generation};
  }
  // Whether `current` (null: absent) is in the asked state; kPreconditionFailed if not.
  Status check(const ObjectInfo* current) const;
};

// What an acknowledged write survives.
enum class Durability : std::uint8_t {
  kDefault,  // as the bucket or the system decides
  kMemory,   // the death of the process
  kDisk,     // a power cut
};

struct CreateOptions {
  std::optional<std::uint64_t> expected_size_bytes;  // when given, commit() insists on it
  Metadata metadata;
  Durability durability = Durability::kDefault;
  Precondition precondition;
};

struct OpenOptions {
  std::optional<std::uint64_t> generation;  // kNotFound when the object has another by now
};

struct RemoveOptions {
  Precondition precondition;
  Durability durability = Durability::kDefault;
};

struct ListRequest {
  std::string prefix;
  // Names that share the part up to the first delimiter after `prefix` become one common prefix.
  std::string delimiter;
  std::string start_after;  // names and common prefixes that sort after this only
  std::uint32_t limit = 1000;
  enum class Members : std::uint8_t { kHide, kShow };
  Members members = Members::kHide;  // of shards: "shard.tar/member", where there is an index
  // When a part of the store cannot be reached: kUnavailable, or what is left.
  enum class Unreachable : std::uint8_t { kRefuse, kLeaveOut };
  Unreachable unreachable = Unreachable::kRefuse;
};

struct ListPage {
  struct Entry {
    std::string name;
    ObjectInfo info;
  };
  std::vector<Entry> entries;                // in byte order
  std::vector<std::string> common_prefixes;  // in byte order
  // Where the next page starts (`start_after`); empty when this is the last page.
  std::string next_start_after;
};

// Bytes and what keeps them alive (null when the caller's buffer does).
struct Slice {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// One read of a batch.
struct BatchRead {
  std::string_view name;
  ByteRange range;
  // When not empty: where the bytes go, and the most that is read. Otherwise the store gives a
  // slice that it owns.
  std::span<std::byte> target;
  // Set by read_batch().
  Result<Slice> result = Error(ErrorCode::kCancelled);

  // For stores: what is wanted of an object of `size_bytes`, ...
  ByteRange wanted_of(std::uint64_t size_bytes) const noexcept;
  // ... and the answer with exactly that: copied to the target, or as it is, kept by `owner`.
  void deliver(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
};

// What a store can do, for callers that choose and for the contract suite that checks.
struct Capabilities {
  bool writable = true;
  bool preconditions = true;
  bool generations = true;  // ObjectInfo::generation is set and grows
  bool metadata = true;     // keeps Metadata
  bool listable = true;
  bool any_name = true;      // false: some names are refused with kInvalidArgument
  bool stores_bytes = true;  // false: null:, whose bytes are a function of the name
  std::size_t max_name_bytes = kMaxNameBytes;
};

class ObjectStore {
 public:
  ObjectStore() = default;
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;
  virtual ~ObjectStore() = default;

  // For people and logs, without credentials. Stores with the same scheme:// URL are the same one.
  virtual std::string_view url() const noexcept = 0;
  virtual Capabilities capabilities() const noexcept = 0;
  // Directories of this machine in which objects whose names start with `prefix` are kept,
  // absolute; none when they are elsewhere.
  virtual std::vector<std::string> directories(std::string_view prefix) const;

  virtual Result<ObjectInfo> stat(std::string_view name, const Context& context) = 0;
  virtual Result<ListPage> list(const ListRequest& request, const Context& context) = 0;
  virtual Result<std::unique_ptr<ObjectReader>> open(std::string_view name,
                                                     const OpenOptions& options,
                                                     const Context& context) = 0;
  virtual Result<std::unique_ptr<ObjectWriter>> create(std::string_view name,
                                                       const CreateOptions& options,
                                                       const Context& context) = 0;
  // kNotFound when there is nothing to remove.
  virtual Status remove(std::string_view name, const RemoveOptions& options,
                        const Context& context) = 0;

  // Performs every read and sets its result; one failure does not stop the others. The default
  // opens and reads one after another.
  virtual void read_batch(std::span<BatchRead> reads, const Context& context);

  // The whole of a small object, if that needs no waiting: a view into `space`, which must hold the
  // object and what the store keeps around it. Nothing: ask open(), which knows more, also that
  // there is no such object. For event loops; the default has nothing.
  virtual std::optional<std::span<const std::byte>> read_now(std::string_view name,
                                                             std::span<std::byte> space,
                                                             ObjectInfo& info);

  // Performs those of `reads`, each with a target, that need no waiting; the results of the others
  // are kCancelled, and then it returns false. For event loops; the default performs none.
  virtual bool read_batch_now(std::span<BatchRead> reads);

  // A reader of an object, if that needs no waiting; null: ask open(). For event loops; the default
  // has none.
  virtual std::shared_ptr<ObjectReader> open_now(std::string_view name);

  // Makes `target` an object with the bytes and, unless `options.metadata` is given, the metadata
  // of `source`, in this store. The default reads and writes.
  virtual Result<ObjectInfo> copy(std::string_view source, std::string_view target,
                                  const CreateOptions& options, const Context& context);
};

// Conveniences, written once over the interface.
Result<std::vector<std::byte>> read_object(ObjectStore& store, std::string_view name,
                                           const Context& context);
Result<ObjectInfo> write_object(ObjectStore& store, std::string_view name,
                                std::span<const std::byte> bytes, const CreateOptions& options,
                                const Context& context);
// Hands the bytes of `range` to `take`, in order and in pieces. An error of `take` ends it.
Status read_pieces(ObjectReader& reader, ByteRange range,
                   const std::function<Status(std::span<const std::byte>)>& take,
                   const Context& context);
// kInvalidArgument for an empty, overlong or NUL-holding name.
Status check_name(std::string_view name, std::size_t max_name_bytes = kMaxNameBytes);

}  // namespace leat
