// Uploads: objects of a bucket that come in parts, in any order, over restarts and days perhaps.
//
// An upload is a small record of its own; its parts are objects that nobody sees, on the drive
// where the whole will be, so that complete() moves no bytes. An upload belongs to one name: with
// another name its id is unknown. What is acknowledged has the durability of the bucket.
//
// The steps that end an upload may be cut short by a crash; sweep() does what is left of them.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/base/context.h"
#include "leat/base/result.h"
#include "leat/store/object_store.h"

namespace leat::local {

inline constexpr std::uint32_t kMaxPartNumber = 10'000;

struct UploadInfo {
  std::string name;
  std::string id;  // 32 hexadecimal digits; those of one name in order of their beginnings
  std::int64_t created_ns = 0;
  Metadata metadata;                           // of the object that it will be
  std::map<std::string, std::string> options;  // what the door keeps with it
};

struct PartInfo {
  std::uint32_t number = 0;  // 1 to kMaxPartNumber
  ObjectInfo info;
};

struct UploadsRequest {
  std::string prefix;
  std::string delimiter;
  // Uploads after this one only; without an id, after all of that name.
  std::string after_name;
  std::string after_id;
  std::uint32_t limit = 1000;
};

struct UploadsPage {
  std::vector<UploadInfo> uploads;  // by name, then by id
  std::vector<std::string> common_prefixes;
  bool is_last = true;
  // Where the next page starts, if there is one; a common prefix has no id.
  std::string next_after_name;
  std::string next_after_id;
};

class Uploads {
 public:
  Uploads() = default;
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  virtual ~Uploads() = default;

  virtual Result<UploadInfo> begin(std::string_view name, const Metadata& metadata,
                                   const std::map<std::string, std::string>& options,
                                   const Context& context) = 0;
  // kNotFound when there is no such upload, here and below; also after it ended.
  virtual Result<UploadInfo> find(std::string_view name, std::string_view id,
                                  const Context& context) = 0;

  // A part; one that has this number already is replaced.
  virtual Result<std::unique_ptr<ObjectWriter>> create_part(std::string_view name,
                                                            std::string_view id,
                                                            std::uint32_t number,
                                                            const CreateOptions& options,
                                                            const Context& context) = 0;
  // Those with numbers after `after`, in order, at most `limit`.
  virtual Result<std::vector<PartInfo>> parts(std::string_view name, std::string_view id,
                                              std::uint32_t after, std::uint32_t limit,
                                              const Context& context) = 0;

  // Makes the object from these parts, in this order, and drops the others. kNotFound when one of
  // them is not there any more in that version. Until it succeeded nothing is lost. kBusy while
  // another call ends the same upload.
  virtual Result<ObjectInfo> complete(std::string_view name, std::string_view id,
                                      std::span<const PartInfo> parts, const CreateOptions& options,
                                      const CommitOptions& commit_options,
                                      const Context& context) = 0;
  // The object, if it is what this upload became: for a client that did not hear the answer.
  virtual Result<ObjectInfo> completed(std::string_view name, std::string_view id,
                                       const Context& context) = 0;
  virtual Status abort(std::string_view name, std::string_view id, const Context& context) = 0;

  virtual Result<UploadsPage> list(const UploadsRequest& request, const Context& context) = 0;
  // Aborts the uploads of which nothing came since `idle_since_ns`; returns how many.
  virtual Result<std::uint64_t> sweep(std::int64_t idle_since_ns, const Context& context) = 0;

  // How long the parts of an object were; none when it did not come in parts. kNotFound when it has
  // another generation by now.
  virtual Result<std::vector<std::uint64_t>> part_sizes(std::string_view name,
                                                        std::uint64_t generation,
                                                        const Context& context) = 0;
};

}  // namespace leat::local
