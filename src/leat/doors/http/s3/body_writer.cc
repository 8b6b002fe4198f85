#include "leat/doors/http/s3/body_writer.h"

namespace leat::doors::http::s3 {

Status BodyWriter::start(const Create& create) {
  if (error_) return *error_;
  if (writer_) return ok_status();
  auto made = create();
  if (!made.ok()) return keep(made.error());
  writer_ = *std::move(made);
  return ok_status();
}

Status BodyWriter::append(std::span<const std::byte> piece, const Create& create,
                          const Context& context) {
  RETURN_IF_ERROR(start(create));
  return keep(body_.feed(
      piece, [&](std::span<const std::byte> bytes) { return writer_->append(bytes, context); }));
}

Status BodyWriter::keep(Status status) {
  if (!status.ok()) error_ = status.error();
  return status;
}

}  // namespace leat::doors::http::s3
