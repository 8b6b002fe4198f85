#include "leat/local/batch.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "leat/local/path_escape.h"

namespace leat::local {
namespace {

constexpr std::uint64_t kSmallRecordBytes = 64 << 10;
constexpr std::size_t kGatherBytes = 4 << 20;
constexpr std::size_t kGatherItems = 512;  // two pieces each: what one pwritev() takes
// Of a header: the name, the size and the type.
constexpr std::size_t kHeaderPart = 160;
// The bytes of a header that are not wanted cost less than a second piece when so few are wanted.
constexpr std::uint64_t kOnePieceBytes = 2048;
constexpr std::size_t kProbes = 4;
// A batch was not warm when it waited for the disk for more than one in so many of its items.
constexpr std::size_t kItemsPerFault = 16;
constexpr int kColdBatches = 16;

void prefetch(const std::byte* data, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(data + i);
}

// The size field of one of our own headers: eleven octal digits.
std::optional<std::uint64_t> parse_size_field(const std::byte* header) {
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 11; ++i) {
    const unsigned digit = static_cast<unsigned>(header[kSizeOffset + i]) - '0';
    if (digit > 7) return std::nullopt;
    size = size * 8 + digit;
  }
  return size;
}

bool header_is_of(const std::byte* header, std::string_view key) {
  const auto* name = reinterpret_cast<const char*>(header);
  if (std::memcmp(name, key.data(), key.size()) != 0) return false;
  if (key.size() < kNameBytes && name[key.size()] != '\0') return false;
  return name[kTypeFlagOffset] == static_cast<char>(TarType::kRegular);
}

// How often this thread has waited for the disk to give it a mapped page.
std::size_t page_waits() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::size_t>(usage.ru_majflt);
}

// The packs of a batch: few, asked for often.
class PackCache {
 public:
  explicit PackCache(Drive& drive) : drive_(drive) {}
  std::shared_ptr<Pack> get(std::uint32_t id) {
    for (const auto& pack : packs_) {
      if (pack->id() == id) return pack;
    }
    auto pack = drive_.log().pack(id);
    if (pack) packs_.push_back(pack);
    return pack;
  }

 private:
  Drive& drive_;
  std::vector<std::shared_ptr<Pack>> packs_;
};

}  // namespace

// A memory file that the kernel gathers records into, and our view of it.
class BatchReader::Gather {
 public:
  static std::unique_ptr<Gather> create() {
    const int descriptor = memfd_create("leat-batch", MFD_CLOEXEC);
    if (descriptor < 0) return nullptr;
    void* address = MAP_FAILED;
    if (ftruncate(descriptor, kGatherBytes) == 0) {
      address = mmap(nullptr, kGatherBytes, PROT_READ, MAP_SHARED, descriptor, 0);
    }
    if (address == MAP_FAILED) {
      close(descriptor);
      return nullptr;
    }
    return std::unique_ptr<Gather>(new Gather(descriptor, static_cast<const std::byte*>(address)));
  }
  ~Gather() {
    munmap(const_cast<std::byte*>(data_), kGatherBytes);
    close(descriptor_);
  }
  // Copies the pieces, which may be mapped files, one after another. False when any could not be.
  bool copy(std::span<const iovec> pieces, std::size_t total) {
    return pwritev(descriptor_, pieces.data(), static_cast<int>(pieces.size()), 0) ==
           static_cast<ssize_t>(total);
  }
  const std::byte* data() const { return data_; }

 private:
  Gather(int descriptor, const std::byte* data) : descriptor_(descriptor), data_(data) {}
  const int descriptor_;
  const std::byte* const data_;
};

BatchReader::BatchReader(PieceReader& pieces) : pieces_(pieces) {}
BatchReader::~BatchReader() = default;

std::vector<BatchReader::Item*> BatchReader::find_small(Drive& drive, std::span<Item> items,
                                                        std::vector<Item*>& other) {
  std::vector<std::uint64_t> hashes(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) hashes[i] = items[i].hash;
  std::vector<NameTable::Matches> matches(items.size());
  drive.find_places(hashes, matches);
  std::vector<Item*> small;
  small.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (matches[i].size() != 1) continue;
    items[i].place = *matches[i].begin();
    const Place place = items[i].place;
    const std::uint64_t length = place.length_bytes();
    if (length == 0 || place.is_tombstone() || place.is_large()) continue;
    const bool is_odd = place.is_verified() && !place.has_known_header();
    if (is_odd) continue;
    const bool may_be_warm = place.is_verified() && length <= kSmallRecordBytes;
    (may_be_warm ? small : other).push_back(&items[i]);
  }
  return small;
}

void BatchReader::read_now(Drive& drive, std::span<Item> items) {
  std::vector<Item*> other;
  std::vector<Item*> small = find_small(drive, items, other);
  read_cached(drive, small);
}

void BatchReader::read(Drive& drive, std::span<Item> items, const Context& context) {
  std::vector<Item*> cold;
  std::vector<Item*> warm = find_small(drive, items, cold);
  read_cached(drive, warm);
  if (!looks_warm(drive, warm)) {
    cold.insert(cold.end(), warm.begin(), warm.end());
    warm.clear();
  }
  for (std::size_t at = 0; at < warm.size();) {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    while (at + count < warm.size() && count < kGatherItems) {
      bytes += warm[at + count]->place.length_bytes();
      if (bytes > kGatherBytes) break;
      ++count;
    }
    read_warm(drive, std::span(warm).subspan(at, count));
    at += count;
  }
  if (!cold.empty()) read_cold(drive, cold, context);
}

// Takes those out of `items` whose bytes the drive's cache has.
void BatchReader::read_cached(Drive& drive, std::vector<Item*>& items) {
  std::vector<RecordCache::Key> keys;
  keys.reserve(items.size());
  for (const Item* item : items) keys.push_back({item->place, item->key});
  drive.record_cache().find(keys, [&](std::size_t i, std::span<const std::byte> bytes) {
    const ByteRange range = items[i]->read->wanted_of(bytes.size());
    const auto wanted = bytes.subspan(range.offset, range.length);
    if (items[i]->read->target.empty() && !wanted.empty()) {
      auto copy = std::make_shared_for_overwrite<std::byte[]>(wanted.size());
      std::memcpy(copy.get(), wanted.data(), wanted.size());
      items[i]->read->result = Slice{{copy.get(), wanted.size()}, copy};
    } else {
      items[i]->read->deliver(wanted, nullptr);
    }
    items[i] = nullptr;
  });
  std::erase(items, nullptr);
}

// Asks for single bytes of a few records, which costs next to nothing when they are in memory.
bool BatchReader::looks_warm(Drive& drive, std::span<Item* const> items) {
  if (items.empty()) return false;
  if (cold_batches_.load(std::memory_order_relaxed) > 0) {
    cold_batches_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  PackCache packs(drive);
  const std::size_t probes = std::min(kProbes, (items.size() + 15) / 16);
  for (std::size_t i = 0; i < probes; ++i) {
    const Location location = items[i * items.size() / probes]->place.location();
    const auto pack = packs.get(location.pack);
    if (!pack || pack->file().descriptor() < 0) return false;
    char byte = 0;
    const iovec piece{&byte, 1};
    const off_t offset = static_cast<off_t>(location.offset_bytes() + kBlockBytes);
    if (preadv2(pack->file().descriptor(), &piece, 1, offset, RWF_NOWAIT) != 1) return false;
  }
  return true;
}

void BatchReader::read_warm(Drive& drive, std::span<Item*> items) {
  std::unique_ptr<Gather> gather;
  {
    MutexLock lock(mutex_);
    if (!gathers_.empty()) {
      gather = std::move(gathers_.back());
      gathers_.pop_back();
    }
  }
  if (!gather) gather = Gather::create();
  if (!gather) return;
  const std::size_t waits_before = page_waits();
  const std::vector<Gathered> gathered = gather_records(drive, items, *gather);
  deliver_gathered(drive, gathered, *gather);
  if (page_waits() - waits_before > items.size() / kItemsPerFault)
    cold_batches_.store(kColdBatches, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  gathers_.push_back(std::move(gather));
}

// Lets the kernel copy what is wanted of each record; those that it could not are left out.
// REQUIRES: the records fit into a Gather.
std::vector<BatchReader::Gathered> BatchReader::gather_records(Drive& drive,
                                                               std::span<Item* const> items,
                                                               Gather& gather) {
  PackCache packs(drive);
  std::vector<iovec> pieces;
  pieces.reserve(2 * items.size());
  std::vector<Gathered> gathered;
  gathered.reserve(items.size());
  std::size_t total = 0;
  for (Item* item : items) {
    const Location location = item->place.location();
    const auto pack = packs.get(location.pack);
    const std::uint64_t length = item->place.length_bytes();
    const auto mapping = pack ? pack->mapping(location.offset_bytes() + length) : Pack::Mapping{};
    const std::uint64_t extension = item->place.extension_bytes();
    if (mapping.data == nullptr || length < extension + kBlockBytes) continue;
    const ByteRange range = item->read->wanted_of(length - extension - kBlockBytes);
    const std::byte* record = mapping.data + location.offset_bytes() + extension;
    const bool in_one_piece = range.offset == 0 && range.length <= kOnePieceBytes;
    const std::size_t head = in_one_piece ? kBlockBytes + range.length : kHeaderPart;
    const std::size_t data_at = total + (in_one_piece ? kBlockBytes : kHeaderPart);
    prefetch(record, kHeaderPart);
    prefetch(record + kBlockBytes + range.offset, range.length);
    pieces.push_back({const_cast<std::byte*>(record), head});
    if (!in_one_piece && range.length > 0)
      pieces.push_back({const_cast<std::byte*>(record) + kBlockBytes + range.offset, range.length});
    gathered.push_back({item, total, data_at});
    total = data_at + range.length;
  }
  if (pieces.empty() || !gather.copy(pieces, total)) gathered.clear();
  return gathered;
}

void BatchReader::deliver_gathered(Drive& drive, std::span<const Gathered> gathered,
                                   const Gather& gather) {
  std::shared_ptr<std::byte[]> owned;  // for reads without a buffer of their own
  std::vector<RecordCache::Entry> entries;
  const bool offer = drive.record_cache().takes_more();
  for (const auto& [item, header_at, data_at] : gathered) {
    const std::byte* header = gather.data() + header_at;
    if (!header_is_of(header, item->key)) continue;
    const auto size = parse_size_field(header);
    // The disk may give other bytes than it did when they were compared.
    const std::uint64_t head = item->place.extension_bytes() + kBlockBytes;
    if (!size || head + padded_size(*size) != item->place.length_bytes()) continue;
    const ByteRange range = item->read->wanted_of(*size);
    const std::byte* data = gather.data() + data_at;
    if (offer && range.length == *size) {
      entries.push_back({{item->place, item->key}, std::span(data, range.length)});
    }
    if (item->read->target.empty() && range.length > 0) {
      if (!owned) {
        const std::uint64_t most = gathered.back().data_at + kSmallRecordBytes;
        owned = std::make_shared_for_overwrite<std::byte[]>(most);
      }
      std::memcpy(owned.get() + data_at, data, range.length);
      data = owned.get() + data_at;
    }
    item->read->deliver(std::span(data, range.length), owned);
  }
  if (!entries.empty()) drive.record_cache().insert(entries);
}

void BatchReader::read_cold(Drive& drive, std::span<Item*> items, const Context& context) {
  PackCache packs(drive);
  std::vector<PieceReader::Piece> pieces;
  std::vector<std::pair<Item*, std::shared_ptr<Pack>>> wanted;  // one a piece
  for (Item* item : items) {
    const Location location = item->place.location();
    auto pack = packs.get(location.pack);
    if (!pack || pack->file().descriptor() < 0) continue;
    pieces.push_back(
        {pack->file().descriptor(), location.offset_bytes(), item->place.length_bytes(), nullptr});
    wanted.emplace_back(item, std::move(pack));
  }
  pieces_.read(pieces, context);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].bytes) continue;
    auto& [item, pack] = wanted[i];
    auto found = drive.interpret(item->key, item->key, item->place, std::move(pack),
                                 pieces[i].bytes, pieces[i].length);
    if (!found.ok() || !*found) continue;
    const Record& record = (*found)->record;
    if (record.kind == RecordKind::kReference) drive.mark_learned(item->key, item->place.large());
    if (record.kind != RecordKind::kObject || (!(*found)->data && record.size_bytes > 0)) continue;
    const ByteRange range = item->read->wanted_of((*found)->record.size_bytes);
    item->read->deliver(std::span((*found)->data.get() + range.offset, range.length),
                        (*found)->data);
  }
}

}  // namespace leat::local
