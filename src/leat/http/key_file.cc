#include "leat/http/key_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace leat::http {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;
constexpr mode_t kOwnerOnly = 0600;
constexpr std::string_view kSpaces = " \t\r";

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Opened to be changed, by nobody else meanwhile.
Result<Descriptor> open_locked(const std::string& path) {
  for (;;) {
    Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (file.get() < 0) return Error::from_errno(errno, "open " + path);
    while (flock(file.get(), LOCK_EX) != 0) {
      if (errno != EINTR) return Error::from_errno(errno, "lock " + path);
    }
    // Whoever had it before may have put another file in its place.
    struct stat opened {};
    struct stat named {};
    if (fstat(file.get(), &opened) != 0) return Error::from_errno(errno, "stat " + path);
    if (stat(path.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev) {
      return file;
    }
  }
}

// Durable before it is told to anyone.
Status write_synced(int descriptor, const std::string& text, const std::string& path) {
  const ssize_t count = write(descriptor, text.data(), text.size());
  if (count != static_cast<ssize_t>(text.size()) || fsync(descriptor) != 0) {
    return Error::from_errno(count < 0 ? errno : EIO, "write " + path);
  }
  return ok_status();
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Takes the first word off `line`; empty when there is none.
std::string take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(kSpaces)));
  std::string word(line.substr(0, line.find_first_of(kSpaces)));
  line.remove_prefix(word.size());
  return word;
}

// `text` without the line of a key; nothing when it has none.
std::optional<std::string> without_key(std::string_view text, std::string_view access_key) {
  std::string kept;
  bool has_key = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    line = line.substr(0, line.find_first_of("#\n"));
    const std::string word = take_word(line);
    const bool is_of_key = !word.empty() && word == access_key;
    has_key |= is_of_key;
    if (!is_of_key) kept += text.substr(0, end);
    text.remove_prefix(end);
  }
  if (!has_key) return std::nullopt;
  return kept;
}

// Another file, with that text, in the place of `old`.
Status replace_file(const std::string& path, const Descriptor& old, const std::string& text) {
  const std::string made = path + ".new";
  (void)unlink(made.c_str());  // of somebody who was killed: the lock is ours
  const Descriptor file(
      open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
  if (file.get() < 0) return Error::from_errno(errno, "make " + made);
  struct stat status {};
  if (fstat(old.get(), &status) == 0) (void)!fchown(file.get(), status.st_uid, status.st_gid);
  Status written = write_synced(file.get(), text, made);
  if (written.ok() && rename(made.c_str(), path.c_str()) != 0) {
    written = Error::from_errno(errno, "rename " + made);
  }
  if (!written.ok()) (void)unlink(made.c_str());
  return written;
}

}  // namespace

std::string default_key_file() {
  if (const char* base = std::getenv("XDG_CONFIG_HOME"); base != nullptr && *base == '/') {
    return std::string(base) + "/leat/keys";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.config/leat/keys";
  }
  return "";
}

Result<std::string> read_key_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) return Error::from_errno(errno, "open " + path);
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return Error::from_errno(errno, "stat " + path);
  if ((status.st_mode & 077) != 0) {
    return Error(ErrorCode::kPermissionDenied,
                 path + " can be read by others; 'chmod 600' it, and think of new keys");
  }
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(errno, "read " + path);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > kMaxFileBytes) return Error(ErrorCode::kTooLarge, path + " is too long");
  }
}

std::optional<SigningKeys> first_key(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    SigningKeys keys;
    keys.access_key = take_word(line);
    keys.secret = take_word(line);
    if (!keys.secret.empty()) return keys;
  }
  return std::nullopt;
}

Result<SigningKeys> find_signing_keys(const std::string& file) {
  const std::string named = file.empty() ? environment("LEAT_KEYS") : file;
  if (named == "none") return SigningKeys();
  const std::string path = named.empty() ? default_key_file() : named;
  if (!path.empty()) {
    const auto text = read_key_file(path);
    const bool is_missing = text.failed_with(ErrorCode::kNotFound) && named.empty();
    if (!text.ok() && !is_missing) return text.error();
    const auto key = text.ok() ? first_key(*text) : std::nullopt;
    if (key) return *key;
    if (!named.empty()) return Error(ErrorCode::kInvalidArgument, named + " holds no key");
  }
  SigningKeys keys{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY")};
  return keys.secret.empty() ? SigningKeys() : keys;
}

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
  ASSIGN_OR_RETURN(const Descriptor file, open_locked(path));
  ASSIGN_OR_RETURN(const std::string old, read_key_file(path));  // and whether it is kept secret
  const bool has_open_line = !old.empty() && old.back() != '\n';
  return write_synced(file.get(), (has_open_line ? "\n" : "") + line + "\n", path);
}

Status remove_from_key_file(const std::string& path, std::string_view access_key) {
  ASSIGN_OR_RETURN(const Descriptor file, open_locked(path));
  ASSIGN_OR_RETURN(const std::string old, read_key_file(path));
  const auto kept = without_key(old, access_key);
  if (!kept) {
    return Error(ErrorCode::kNotFound, path + " has no key " + std::string(access_key));
  }
  // Where a symbolic link leads, so that it stays one.
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) return Error::from_errno(error.value(), path);
  RETURN_IF_ERROR(replace_file(target.string(), file, *kept));
  // A key that was taken away must not come back with a power cut.
  const Descriptor parent(open(target.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0 || fsync(parent.get()) != 0) {
    return Error::from_errno(errno, "sync " + target.parent_path().string());
  }
  return ok_status();
}

}  // namespace leat::http
