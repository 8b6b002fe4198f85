// DeleteObjects: up to a thousand at once.
#include <string>
#include <vector>

#include "leat/doors/http/s3/conditions.h"
#include "leat/doors/http/s3/xml_operation.h"
#include "leat/doors/http/s3/xml_reader.h"
#include "leat/doors/http/s3/xml_writer.h"

namespace leat::doors::http::s3 {
namespace {

constexpr std::size_t kMostObjects = 1000;

class DeleteObjects final : public XmlOperation {
 public:
  DeleteObjects(S3Request request, Buckets& buckets)
      : XmlOperation(std::move(request), buckets, RequestBody::Checksums::kOfBody) {}

 protected:
  Result<Answer> perform(const Context& context) override {
    if (const auto error = finish_body()) return failure(*error);
    ASSIGN_OR_RETURN(const auto store, bucket());
    if (const Status read = read_document(); !read.ok()) {
      return failure(malformed_xml(read.error().message()));
    }
    XmlWriter xml;
    {
      const auto root = xml.root("DeleteResult");
      for (const Item& item : items_) {
        const auto error = remove(*store, item, context);
        if (!error && is_quiet_) continue;
        const auto element = xml.element(error ? "Error" : "Deleted");
        xml.text("Key", item.key);
        if (!error) continue;
        xml.text("Code", error->code);
        xml.text("Message", error->message);
      }
    }
    return xml_answer(std::move(xml));
  }

 private:
  struct Item {
    std::string key;
    Precondition precondition;
    bool is_understood = true;
  };

  Status read_document() {
    Item item;
    RETURN_IF_ERROR(read_xml(document(), [&](std::string_view path, std::string_view text) {
      return take(item, path, text);
    }));
    if (items_.empty()) return Error(ErrorCode::kInvalidArgument, "nothing to delete");
    return ok_status();
  }

  Status take(Item& item, std::string_view path, std::string_view text) {
    if (path == "Delete/Quiet") {
      is_quiet_ = text == "true";
    } else if (path == "Delete/Object/Key") {
      item.key = text;
    } else if (path == "Delete/Object/ETag") {
      item.precondition = text == "*" ? Precondition::present()
                                      : Precondition::has_etag(std::string(unquoted(text)));
    } else if (path == "Delete/Object/VersionId") {
      // Of what has no versions, the only one is "null".
      item.is_understood &= text.empty() || text == "null";
    } else if (path == "Delete/Object") {
      if (item.key.empty()) return Error(ErrorCode::kInvalidArgument, "an object without a key");
      if (items_.size() == kMostObjects) {
        return Error(ErrorCode::kInvalidArgument, "more than 1000 objects");
      }
      items_.push_back(std::exchange(item, Item()));
    } else if (path.starts_with("Delete/Object/")) {
      item.is_understood = false;  // a condition that we would not check
    } else if (path != "Delete") {
      return Error(ErrorCode::kInvalidArgument, "an element that is not known");
    }
    return ok_status();
  }

  std::optional<S3Error> remove(ObjectStore& store, const Item& item,
                                const Context& context) const {
    if (!request_.may(Right::kWrite, request_.address.bucket, item.key)) {
      return S3Error{403, "AccessDenied", "this key may not do that"};
    }
    if (!item.is_understood) {
      return S3Error{501, "NotImplemented", "versions and this condition are not supported"};
    }
    RemoveOptions options;
    options.precondition = item.precondition;
    const Status status = store.remove(item.key, options, context);
    // What never was is gone, too.
    const bool is_gone = status.failed_with(ErrorCode::kNotFound) &&
                         item.precondition.kind == Precondition::Kind::kNone;
    if (status.ok() || is_gone) return std::nullopt;
    return s3_error(status.error());
  }

  std::vector<Item> items_;
  bool is_quiet_ = false;
};

}  // namespace

std::unique_ptr<Exchange> make_delete_objects(S3Request request, Buckets& buckets) {
  return std::make_unique<DeleteObjects>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
