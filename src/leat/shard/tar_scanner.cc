#include "leat/shard/tar_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "leat/base/hash.h"
#include "leat/shard/pax.h"

namespace leat {
namespace {

constexpr std::size_t kScanBufferBytes = 1 << 20;
constexpr std::string_view kSparseKeys = "GNU.sparse.";

Error located(std::uint64_t offset, Error error) {
  return std::move(error).within(fmt::format("tar header at byte {}", offset));
}

Error corrupted(std::uint64_t offset, std::string why) {
  return located(offset, Error(ErrorCode::kCorrupted, std::move(why)));
}

std::string_view without_root(std::string_view name) {
  for (;;) {
    if (name.starts_with('/')) {
      name.remove_prefix(1);
    } else if (name.starts_with("./")) {
      name.remove_prefix(2);
    } else {
      return name;
    }
  }
}

bool is_regular(TarType type) {
  return type == TarType::kRegular || type == TarType::kRegularV7 || type == TarType::kContiguous;
}

}  // namespace

Status TarVisitor::begin_member(const TarEntry&) {
  return ok_status();
}

Status TarVisitor::member_data(std::span<const std::byte>) {
  return ok_status();
}

Status TarVisitor::skip_entry(const TarEntry&) {
  return ok_status();
}

// An empty value withdraws the key.
Status TarScanner::Overrides::apply(std::string_view key, std::string_view value) {
  if (key.starts_with(kSparseKeys)) {
    sparse = true;
  } else if (key == "path") {
    path.reset();
    if (value.find('\0') != std::string_view::npos) {
      return Error(ErrorCode::kCorrupted, "the pax path holds a NUL");
    }
    if (!value.empty()) path = value;
  } else if (key == "size") {
    size_bytes.reset();
    if (value.empty()) return ok_status();
    ASSIGN_OR_RETURN(size_bytes, parse_pax_size(value));
  } else if (key == "mtime") {
    mtime_ns.reset();
    if (value.empty()) return ok_status();
    ASSIGN_OR_RETURN(mtime_ns, parse_pax_time_ns(value));
  }
  return ok_status();
}

Status TarScanner::feed(std::span<const std::byte> bytes) {
  if (failure_) return *failure_;
  summary_.stream_bytes += bytes.size();
  while (!bytes.empty() && state_ != State::kEnd) {
    if (auto status = step(bytes); !status.ok()) {
      failure_ = status.error();
      return status;
    }
  }
  return ok_status();
}

Result<TarSummary> TarScanner::finish() {
  if (failure_) return *failure_;
  if (state_ == State::kEnd) return summary_;
  if (summary_.stream_bytes == 0) {
    failure_ = Error(ErrorCode::kCorrupted, "not a tar archive: it is empty");
    return *failure_;
  }
  const bool between_members = state_ == State::kHeader && block_fill_ == 0 && !member_awaited_;
  if (!between_members && !zero_block_seen_) {
    const std::uint64_t begin = state_ == State::kHeader ? offset_ : header_offset_;
    failure_ = corrupted(begin, fmt::format("the archive is cut off at byte {}, before the entry "
                                            "is complete",
                                            summary_.stream_bytes));
    return *failure_;
  }
  summary_.lone_zero_block = zero_block_seen_;
  return summary_;
}

Status TarScanner::step(std::span<const std::byte>& bytes) {
  switch (state_) {
    case State::kHeader:
    case State::kSparseMap:
      return take_block(bytes);
    case State::kExtended:
      return take_extended(bytes);
    case State::kData:
      return take_data(bytes);
    case State::kPassOver:
      take_passed_over(bytes);
      return ok_status();
    case State::kEnd:
      break;
  }
  bytes = {};
  return ok_status();
}

Status TarScanner::take_block(std::span<const std::byte>& bytes) {
  if (block_fill_ == 0 && bytes.size() >= kTarBlockBytes) {
    const ConstTarBlock whole = bytes.first<kTarBlockBytes>();
    bytes = bytes.subspan(kTarBlockBytes);
    offset_ += kTarBlockBytes;
    return read_block(whole);
  }
  const std::size_t count = std::min(bytes.size(), kTarBlockBytes - block_fill_);
  std::memcpy(block_.data() + block_fill_, bytes.data(), count);
  bytes = bytes.subspan(count);
  block_fill_ += count;
  if (block_fill_ < kTarBlockBytes) return ok_status();
  block_fill_ = 0;
  offset_ += kTarBlockBytes;
  return read_block(block_);
}

Status TarScanner::take_extended(std::span<const std::byte>& bytes) {
  const std::size_t count = std::min<std::uint64_t>(bytes.size(), remaining_);
  extended_.append(reinterpret_cast<const char*>(bytes.data()), count);
  bytes = bytes.subspan(count);
  offset_ += count;
  remaining_ -= count;
  return remaining_ == 0 ? apply_extended() : ok_status();
}

Status TarScanner::take_data(std::span<const std::byte>& bytes) {
  const std::span<const std::byte> data =
      bytes.first(std::min<std::uint64_t>(bytes.size(), remaining_));
  bytes = bytes.subspan(data.size());
  offset_ += data.size();
  remaining_ -= data.size();
  entry_.crc32c = crc32c(entry_.crc32c, data);
  RETURN_IF_ERROR(visitor_.member_data(data));
  return remaining_ == 0 ? end_member() : ok_status();
}

void TarScanner::take_passed_over(std::span<const std::byte>& bytes) {
  const std::size_t count = std::min<std::uint64_t>(bytes.size(), remaining_);
  bytes = bytes.subspan(count);
  offset_ += count;
  pass_over(remaining_ - count);
}

void TarScanner::pass_over(std::uint64_t bytes) {
  remaining_ = bytes;
  state_ = bytes == 0 ? State::kHeader : State::kPassOver;
}

Status TarScanner::read_block(ConstTarBlock block) {
  if (state_ == State::kSparseMap) {
    read_sparse_map(block);
    return ok_status();
  }
  header_offset_ = offset_ - kTarBlockBytes;
  if (is_zero_block(block)) return read_zero_block();
  if (!zero_block_seen_) return read_header(block);
  summary_.lone_zero_block = true;
  state_ = State::kEnd;
  return ok_status();
}

Status TarScanner::read_zero_block() {
  if (member_awaited_) {
    return corrupted(header_offset_, "the archive ends where an extended header awaits its member");
  }
  if (zero_block_seen_) {
    state_ = State::kEnd;
    summary_.has_end = true;
  }
  zero_block_seen_ = true;
  return ok_status();
}

Status TarScanner::read_header(ConstTarBlock block) {
  auto header = parse_header(block);
  if (!header.ok()) return located(header_offset_, std::move(header).error());
  switch (header->type) {
    case TarType::kPaxHeader:
    case TarType::kPaxGlobalHeader:
    case TarType::kSolarisPaxHeader:
    case TarType::kGnuLongName:
    case TarType::kGnuLongLink:
      return begin_extended(*header);
    default:
      return begin_entry(*header, block);
  }
}

Status TarScanner::begin_extended(const TarHeader& header) {
  if (header.size_bytes > kMaxExtendedHeaderBytes) {
    return located(header_offset_, Error(ErrorCode::kTooLarge,
                                         fmt::format("an extended header of {} bytes is over the "
                                                     "limit of {}",
                                                     header.size_bytes, kMaxExtendedHeaderBytes)));
  }
  extended_type_ = header.type;
  extended_.clear();
  member_awaited_ = member_awaited_ || header.type != TarType::kPaxGlobalHeader;
  remaining_ = header.size_bytes;
  state_ = State::kExtended;
  return remaining_ == 0 ? apply_extended() : ok_status();
}

Status TarScanner::apply_extended() {
  switch (extended_type_) {
    case TarType::kGnuLongName:
      gnu_long_name_ = extended_.substr(0, extended_.find('\0'));
      break;
    case TarType::kGnuLongLink:  // where a link leads is not our business
      break;
    default:
      RETURN_IF_ERROR(apply_pax(extended_type_ == TarType::kPaxGlobalHeader ? global_ : next_));
  }
  pass_over(padded_size(extended_.size()) - extended_.size());
  return ok_status();
}

Status TarScanner::apply_pax(Overrides& target) {
  std::string_view rest = extended_;
  for (;;) {
    auto record = take_pax_record(rest);
    if (!record.ok()) return located(header_offset_, std::move(record).error());
    if (!record->has_value()) return ok_status();
    auto status = target.apply((*record)->key, (*record)->value);
    if (!status.ok()) return located(header_offset_, std::move(status).error());
  }
}

Status TarScanner::begin_entry(const TarHeader& header, ConstTarBlock block) {
  RETURN_IF_ERROR(describe_entry(header));
  const Skipped skipped = skipped_kind();
  forget_overrides();
  if (skipped != Skipped::kNo) return skip_entry(skipped, block);
  return begin_member();
}

Status TarScanner::describe_entry(const TarHeader& header) {
  if (next_.path) {
    name_ = *next_.path;
  } else if (gnu_long_name_) {
    name_ = *gnu_long_name_;
  } else if (global_.path) {
    name_ = *global_.path;
  } else {
    name_.assign(header.prefix);
    if (!name_.empty()) name_ += '/';
    name_ += header.name;
  }
  entry_ = TarEntry{};
  entry_.stored_name = name_;
  entry_.name = without_root(name_);
  entry_.type = header.type;
  entry_.mode = header.mode;
  entry_.data_offset = offset_;
  entry_.mtime_ns = next_.mtime_ns     ? *next_.mtime_ns
                    : global_.mtime_ns ? *global_.mtime_ns
                                       : nanoseconds_of_seconds(header.mtime_s);
  if (!has_data(header.type)) return ok_status();
  entry_.size_bytes = next_.size_bytes     ? *next_.size_bytes
                      : global_.size_bytes ? *global_.size_bytes
                                           : header.size_bytes;
  if (entry_.size_bytes > INT64_MAX - kTarBlockBytes - offset_) {
    return located(header_offset_, Error(ErrorCode::kTooLarge, "the entry ends beyond 63 bits"));
  }
  return ok_status();
}

TarScanner::Skipped TarScanner::skipped_kind() const {
  switch (entry_.type) {
    case TarType::kHardLink:
    case TarType::kSymbolicLink:
      return Skipped::kLink;
    case TarType::kDirectory:
      return Skipped::kDirectory;
    case TarType::kGnuSparse:
      return Skipped::kSparse;
    default:
      if (!is_regular(entry_.type)) return Skipped::kOther;
      // v7 had no other way to say it.
      if (entry_.stored_name.ends_with('/')) return Skipped::kDirectory;
      return next_.sparse || global_.sparse ? Skipped::kSparse : Skipped::kNo;
  }
}

void TarScanner::forget_overrides() {
  next_ = {};
  gnu_long_name_.reset();
  member_awaited_ = false;
}

Status TarScanner::skip_entry(Skipped skipped, ConstTarBlock block) {
  summary_.links += skipped == Skipped::kLink;
  summary_.directories += skipped == Skipped::kDirectory;
  summary_.sparse += skipped == Skipped::kSparse;
  summary_.others += skipped == Skipped::kOther;
  RETURN_IF_ERROR(visitor_.skip_entry(entry_));
  if (entry_.type == TarType::kGnuSparse && block[kSparseExtendedOffset] != std::byte{0}) {
    state_ = State::kSparseMap;
    return ok_status();
  }
  pass_over(padded_size(entry_.size_bytes));
  return ok_status();
}

void TarScanner::read_sparse_map(ConstTarBlock block) {
  if (block[kSparseMapExtendedOffset] != std::byte{0}) return;
  pass_over(padded_size(entry_.size_bytes));
}

Status TarScanner::begin_member() {
  if (entry_.name.empty()) return corrupted(header_offset_, "the member has no name");
  RETURN_IF_ERROR(visitor_.begin_member(entry_));
  remaining_ = entry_.size_bytes;
  state_ = State::kData;
  return remaining_ == 0 ? end_member() : ok_status();
}

Status TarScanner::end_member() {
  ++summary_.members;
  RETURN_IF_ERROR(visitor_.end_member(entry_));
  pass_over(padded_size(entry_.size_bytes) - entry_.size_bytes);
  return ok_status();
}

Result<TarSummary> scan_tar(ObjectReader& reader, TarVisitor& visitor, const Context& context) {
  TarScanner scanner(visitor);
  std::vector<std::byte> buffer(
      std::clamp<std::uint64_t>(reader.info().size_bytes, kTarBlockBytes, kScanBufferBytes));
  for (std::uint64_t offset = 0;;) {
    RETURN_IF_ERROR(context.check());
    ASSIGN_OR_RETURN(const std::size_t count, reader.read_at(offset, buffer, context));
    RETURN_IF_ERROR(scanner.feed(std::span(buffer).first(count)));
    offset += count;
    if (count < buffer.size()) return scanner.finish();
  }
}

}  // namespace leat
