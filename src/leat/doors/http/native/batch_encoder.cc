#include "leat/doors/http/native/batch_encoder.h"

#include <fmt/format.h>

#include <array>

#include "leat/base/url.h"
#include "leat/doors/http/native/operation.h"
#include "leat/shard/pax.h"
#include "leat/shard/shard_writer.h"
#include "leat/shard/tar_header.h"

namespace leat::doors::http::native {
namespace {

class FramesEncoder final : public BatchEncoder {
 public:
  explicit FramesEncoder(const wire::BatchList& list) : list_(list) {}

  std::string_view content_type() const override { return wire::kFramesType; }
  std::size_t overhead_bytes() const override { return wire::kFrameBytes; }
  void begin(std::string& target) override { wire::append_frames_head(target, list_.items.size()); }
  Status check(std::size_t /*index*/) const override { return ok_status(); }
  void begin_item(std::string& target, std::size_t /*index*/, std::uint64_t length) override {
    wire::append_frame_head(target, length);
  }
  void end_item(std::string& /*target*/, std::uint64_t /*length*/) override {}
  void add_error(std::string& target, std::size_t /*index*/, const Error& error) override {
    wire::append_error_frame(target, error.code(), error.message());
  }
  void end(std::string& /*target*/) override {}

 private:
  const wire::BatchList& list_;
};

class TarEncoder final : public BatchEncoder {
 public:
  explicit TarEncoder(const wire::BatchList& list) : list_(list) {}

  std::string_view content_type() const override { return "application/x-tar"; }
  std::size_t overhead_bytes() const override { return 2 * kTarBlockBytes; }
  void begin(std::string& /*target*/) override {}
  Status check(std::size_t index) const override { return check_member_name(name_of(index)); }
  void begin_item(std::string& target, std::size_t index, std::uint64_t length) override {
    add_head(target, name_of(index), length);
  }
  void end_item(std::string& target, std::uint64_t length) override {
    target.append(padded_size(length) - length, '\0');
  }
  void add_error(std::string& target, std::size_t index, const Error& error) override {
    const wire::BatchItem& item = list_.items[index];
    const std::string text = fmt::format(
        "{{\"error\":{{\"code\":\"{}\",\"message\":\"{}\"}},\"index\":{},\"bucket\":\"{}\","
        "\"name\":\"{}\"}}\n",
        error_traits(error.code()).name, json_text(error.message()), index,
        json_text(list_.buckets[item.bucket]), percent_encode(item.name, "/"));
    add_head(target, fmt::format(".leat-error/{}.json", index), text.size());
    target += text;
    end_item(target, text.size());
  }
  void end(std::string& target) override { target.append(kShardEndBytes, '\0'); }

 private:
  std::string name_of(std::size_t index) const {
    const wire::BatchItem& item = list_.items[index];
    if (list_.buckets.size() == 1) return std::string(item.name);
    return fmt::format("{}/{}", list_.buckets[item.bucket], item.name);
  }

  static void add_block(std::string& target, const TarHeader& header) {
    std::array<std::byte, kTarBlockBytes> block;
    format_header(block, header);
    finish_checksum(block);
    target.append(reinterpret_cast<const char*>(block.data()), block.size());
  }

  void add_head(std::string& target, std::string_view name, std::uint64_t length) {
    const auto split = split_name(name);
    if (!split) {
      std::string record;
      append_pax_record(record, "path", name);
      TarHeader pax;
      pax.name = "PaxHeaders/path";
      pax.size_bytes = record.size();
      pax.type = TarType::kPaxHeader;
      add_block(target, pax);
      target += record;
      end_item(target, record.size());
    }
    TarHeader header;
    header.name = split ? split->name : name;
    header.prefix = split ? split->prefix : std::string_view();
    header.size_bytes = length;
    add_block(target, header);
  }

  const wire::BatchList& list_;
};

}  // namespace

std::unique_ptr<BatchEncoder> BatchEncoder::make(BatchFormat format, const wire::BatchList& list) {
  if (format == BatchFormat::kFrames) return std::make_unique<FramesEncoder>(list);
  return std::make_unique<TarEncoder>(list);
}

}  // namespace leat::doors::http::native
