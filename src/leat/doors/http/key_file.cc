#include "leat/doors/http/key_file.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace leat::doors::http {
namespace {

constexpr mode_t kOwnerOnly = 0600;

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

// Durable before it is told to anyone.
Status write_synced(int descriptor, const std::string& text, const std::string& path) {
  const ssize_t count = write(descriptor, text.data(), text.size());
  if (count != static_cast<ssize_t>(text.size()) || fsync(descriptor) != 0) {
    return Error::from_errno(count < 0 ? errno : EIO, "write " + path);
  }
  return ok_status();
}

}  // namespace

Status make_key_file(const std::string& path, const std::string& line) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return Error::from_errno(error.value(), "make directory " + parent.string());
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
  if (file.get() < 0) return Error::from_errno(errno, "make " + path);
  return write_synced(
      file.get(),
      "# ACCESS-KEY SECRET RIGHT[:BUCKET[/PREFIX]]…; read, write or admin\n" + line + "\n", path);
}

Status append_to_key_file(const std::string& path, const std::string& line) {
  ASSIGN_OR_RETURN(const std::string old, read_key_file(path));  // and whether it is kept secret
  const Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (file.get() < 0) return Error::from_errno(errno, "open " + path);
  const bool has_open_line = !old.empty() && old.back() != '\n';
  return write_synced(file.get(), (has_open_line ? "\n" : "") + line + "\n", path);
}

}  // namespace leat::doors::http
