#include "leat/local/run.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "leat/base/check.h"
#include "leat/base/hash.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kHashSeed = 0x6c656174;  // "leat"
constexpr std::size_t kBlockTargetBytes = 16 << 10;
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::string_view kMagic = "leatrun1";

// The last bytes of the file. Little-endian, like everything in a run.
struct Footer {
  std::uint64_t entry_count;
  std::uint64_t block_count;
  std::uint64_t index_offset;
  std::uint64_t index_bytes;
  std::uint64_t places_bytes;    // right after the index
  std::uint64_t replaced_bytes;  // right after the places
  std::uint32_t index_crc;
  std::uint32_t places_crc;
  std::uint32_t replaced_crc;
  std::uint32_t reserved;
  char magic[8];
  std::uint32_t padding;
  std::uint32_t footer_crc;  // of all bytes of the footer before it
};
static_assert(sizeof(Footer) == 80);

struct HashedPlace {
  std::uint64_t hash;
  std::uint64_t place;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

template <typename T>
void put_fixed(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Takes values off the front of a block; remembers whether it ever ran out.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }
  template <typename T>
  T fixed() {
    T value{};
    const std::string_view text = bytes(sizeof value);
    if (!failed_) std::memcpy(&value, text.data(), sizeof value);
    return value;
  }
  std::string_view bytes(std::uint64_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  bool failed() const { return failed_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

void encode_entry(std::string& out, const CatalogueEntry& entry) {
  put_varint(out, entry.generation);
  put_fixed(out, entry.place.unverified().bits());
  put_varint(out, entry.previous.unverified().bits());
  put_varint(out, entry.size_bytes);
  put_fixed(out, entry.mtime_ns);
  put_fixed(out, entry.crc32c);
  put_fixed(out, entry.flags);
  put_varint(out, entry.etag.size());
  out += entry.etag;
}

void decode_entry(Decoder& in, CatalogueEntry& entry) {
  entry.generation = in.varint();
  entry.place = Place::from_bits(in.fixed<std::uint64_t>());
  entry.previous = Place::from_bits(in.varint());
  entry.size_bytes = in.varint();
  entry.mtime_ns = in.fixed<std::int64_t>();
  entry.crc32c = in.fixed<std::uint32_t>();
  entry.flags = in.fixed<std::uint8_t>();
  entry.etag = in.bytes(in.varint());
}

Status read_exactly(File& file, std::uint64_t offset, std::span<std::byte> target) {
  ASSIGN_OR_RETURN(auto count, file.read_at(offset, target));
  if (count != target.size()) return Error(ErrorCode::kCorrupted, "the file is cut short");
  return ok_status();
}

Result<std::string> read_text(File& file, std::uint64_t offset, std::uint64_t length) {
  std::string text(length, '\0');
  RETURN_IF_ERROR(read_exactly(file, offset, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace

std::uint64_t hash_key(std::string_view key) noexcept {
  return xxh3_64(key, kHashSeed);
}

Result<RunWriter> RunWriter::create(FileSystem& files, std::string path) {
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::kCreate));
  return RunWriter(std::move(file), std::move(path));
}

Status RunWriter::add(std::string_view key, const CatalogueEntry& entry) {
  CHECK(entry_count_ == 0 || key > last_key_);
  std::size_t shared = 0;
  if (block_.empty()) {
    block_start_ = written_bytes_ + buffer_.size();
    put_varint(first_keys_, key.size());
    first_keys_ += key;
  } else {
    const std::size_t most = std::min(key.size(), last_key_.size());
    while (shared < most && key[shared] == last_key_[shared]) ++shared;
  }
  put_varint(block_, shared);
  put_varint(block_, key.size() - shared);
  block_ += key.substr(shared);
  encode_entry(block_, entry);
  last_key_ = key;
  ++entry_count_;

  const std::uint64_t hash = hash_key(key);
  if (entry.previous.bits() != 0) {
    put_fixed(replaced_, HashedPlace{hash, entry.previous.unverified().bits()});
  }
  if (!entry.is_forgotten()) {
    put_fixed(places_, HashedPlace{hash, entry.place.unverified().bits()});
  }
  return block_.size() >= kBlockTargetBytes ? end_block() : ok_status();
}

Status RunWriter::end_block() {
  if (block_.empty()) return ok_status();
  put_fixed(block_, crc32c(0, bytes_of(block_)));
  put_varint(first_keys_, block_start_);
  put_varint(first_keys_, block_.size());
  ++block_count_;
  RETURN_IF_ERROR(write(block_));
  block_.clear();
  return ok_status();
}

Status RunWriter::finish() {
  RETURN_IF_ERROR(end_block());
  Footer footer{};
  footer.entry_count = entry_count_;
  footer.block_count = block_count_;
  footer.index_offset = written_bytes_ + buffer_.size();
  footer.index_bytes = first_keys_.size();
  footer.places_bytes = places_.size();
  footer.replaced_bytes = replaced_.size();
  footer.index_crc = crc32c(0, bytes_of(first_keys_));
  footer.places_crc = crc32c(0, bytes_of(places_));
  footer.replaced_crc = crc32c(0, bytes_of(replaced_));
  std::memcpy(footer.magic, kMagic.data(), kMagic.size());
  const auto before_crc = std::as_bytes(std::span(&footer, 1)).first(offsetof(Footer, footer_crc));
  footer.footer_crc = crc32c(0, before_crc);
  RETURN_IF_ERROR(write(first_keys_));
  RETURN_IF_ERROR(write(places_));
  RETURN_IF_ERROR(write(replaced_));
  put_fixed(buffer_, footer);
  RETURN_IF_ERROR(flush());
  return file_->sync();
}

Status RunWriter::write(std::string_view bytes) {
  buffer_ += bytes;
  return buffer_.size() >= kBufferBytes ? flush() : ok_status();
}

Status RunWriter::flush() {
  RETURN_IF_ERROR(file_->write_at(written_bytes_, bytes_of(buffer_)));
  written_bytes_ += buffer_.size();
  buffer_.clear();
  return ok_status();
}

Result<std::shared_ptr<const Run>> Run::open(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::kRead));
  auto run = std::shared_ptr<Run>(new Run(std::move(file), path));
  RETURN_IF_ERROR(run->load());
  return std::shared_ptr<const Run>(std::move(run));
}

Error Run::corrupted(std::string_view what) const {
  return Error(ErrorCode::kCorrupted, "catalogue file " + path_ + ": " + std::string(what));
}

Status Run::load() {
  ASSIGN_OR_RETURN(auto status, file_->status());
  if (status.size_bytes < sizeof(Footer)) return corrupted("too short");
  Footer footer;
  const auto footer_bytes = std::as_writable_bytes(std::span(&footer, 1));
  const std::uint64_t sections_end = status.size_bytes - sizeof footer;
  RETURN_IF_ERROR(read_exactly(*file_, sections_end, footer_bytes));
  if (std::string_view(footer.magic, sizeof footer.magic) != kMagic ||
      footer.footer_crc != crc32c(0, footer_bytes.first(offsetof(Footer, footer_crc)))) {
    return corrupted("the footer is damaged");
  }
  // With a right checksum the numbers are ours; checked all the same, cheaply.
  if (footer.index_offset > sections_end || footer.index_bytes > sections_end ||
      footer.places_bytes > sections_end || footer.replaced_bytes > sections_end ||
      footer.index_offset + footer.index_bytes + footer.places_bytes + footer.replaced_bytes !=
          sections_end) {
    return corrupted("the sections do not fit");
  }
  ASSIGN_OR_RETURN(auto index, read_text(*file_, footer.index_offset, footer.index_bytes));
  if (crc32c(0, bytes_of(index)) != footer.index_crc) return corrupted("the index is damaged");
  entry_count_ = footer.entry_count;
  places_offset_ = footer.index_offset + footer.index_bytes;
  places_bytes_ = footer.places_bytes;
  replaced_bytes_ = footer.replaced_bytes;
  places_crc_ = footer.places_crc;
  replaced_crc_ = footer.replaced_crc;
  blocks_.reserve(std::min<std::uint64_t>(footer.block_count, footer.index_bytes));
  return load_index(index);
}

Status Run::load_index(std::string_view bytes) {
  const std::uint64_t blocks_end = places_offset_ - bytes.size();
  Decoder in(bytes);
  std::string_view last;
  while (in.left() > 0) {
    const std::string_view key = in.bytes(in.varint());
    const std::uint64_t offset = in.varint();
    const std::uint64_t length = in.varint();
    const bool fits = length >= sizeof(std::uint32_t) && length <= UINT32_MAX &&
                      length <= blocks_end && offset <= blocks_end - length;
    if (in.failed() || !fits || (!blocks_.empty() && key <= last)) {
      return corrupted("the index is damaged");
    }
    blocks_.push_back({offset, static_cast<std::uint32_t>(length),
                       static_cast<std::uint32_t>(key.size()), keys_.size()});
    keys_ += key;
    last = key;
  }
  return ok_status();
}

Status Run::for_each_place(const Visit& replaced, const Visit& present) const {
  RETURN_IF_ERROR(
      visit_section(places_offset_ + places_bytes_, replaced_bytes_, replaced_crc_, replaced));
  return visit_section(places_offset_, places_bytes_, places_crc_, present);
}

Status Run::visit_section(std::uint64_t offset, std::uint64_t bytes, std::uint32_t expected_crc,
                          const Visit& visit) const {
  if (bytes % sizeof(HashedPlace) != 0) return corrupted("a section is cut");
  std::vector<HashedPlace> buffer(std::min<std::uint64_t>(bytes, kBufferBytes) /
                                  sizeof(HashedPlace));
  std::uint32_t crc = 0;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t count =
        std::min<std::uint64_t>(buffer.size(), (bytes - done) / sizeof(HashedPlace));
    const auto part = std::span(buffer).first(count);
    RETURN_IF_ERROR(read_exactly(*file_, offset + done, std::as_writable_bytes(part)));
    crc = crc32c(crc, std::as_bytes(part));
    for (const HashedPlace& item : part)
      RETURN_IF_ERROR(visit(item.hash, Place::from_bits(item.place)));
    done += part.size_bytes();
  }
  return crc == expected_crc ? ok_status() : corrupted("the table of places is damaged");
}

Status RunCursor::seek(std::string_view at_or_after) {
  valid_ = false;
  // The last block whose first key is not after the wanted one.
  std::size_t low = 0;
  std::size_t high = run_->blocks_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (run_->first_key(middle) <= at_or_after) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (run_->blocks_.empty()) return ok_status();
  RETURN_IF_ERROR(load_block(low == 0 ? 0 : low - 1));
  RETURN_IF_ERROR(next());
  while (valid_ && key_ < at_or_after) RETURN_IF_ERROR(next());
  return ok_status();
}

Status RunCursor::next() {
  if (at_ >= block_bytes_.size()) {
    valid_ = false;
    if (block_ + 1 >= run_->blocks_.size()) return ok_status();
    RETURN_IF_ERROR(load_block(block_ + 1));
  }
  return decode_next();
}

Status RunCursor::load_block(std::size_t block) {
  const Run::Block& place = run_->blocks_[block];
  block_bytes_.resize(place.length);
  RETURN_IF_ERROR(
      read_exactly(*run_->file_, place.offset, std::as_writable_bytes(std::span(block_bytes_))));
  const std::size_t payload = place.length - sizeof(std::uint32_t);
  std::uint32_t expected = 0;
  std::memcpy(&expected, block_bytes_.data() + payload, sizeof expected);
  block_bytes_.resize(payload);
  if (crc32c(0, bytes_of(block_bytes_)) != expected) {
    return run_->corrupted("a block is damaged; 'leat verify --repair' makes the catalogue anew");
  }
  block_ = block;
  at_ = 0;
  key_.clear();
  return ok_status();
}

Status RunCursor::decode_next() {
  Decoder in(std::string_view(block_bytes_).substr(at_));
  const std::uint64_t shared = in.varint();
  const std::string_view tail = in.bytes(in.varint());
  decode_entry(in, entry_);
  const bool is_first = at_ == 0;
  valid_ = false;
  // Whoever merges or lists relies on the order, so that it is checked, not believed.
  if (in.failed() || shared > key_.size() ||
      (is_first ? tail != run_->first_key(block_)
                : tail <= std::string_view(key_).substr(shared))) {
    return run_->corrupted("an entry is damaged");
  }
  key_.resize(shared);
  key_ += tail;
  at_ = block_bytes_.size() - in.left();
  valid_ = true;
  return ok_status();
}

}  // namespace leat::local
