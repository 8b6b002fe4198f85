// DeleteObject.
#include "leat/doors/http/s3/conditions.h"
#include "leat/doors/http/s3/operation.h"

namespace leat::doors::http::s3 {
namespace {

class DeleteObject final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    ASSIGN_OR_RETURN(const auto store, bucket());
    RemoveOptions options;
    ASSIGN_OR_RETURN(options.precondition, precondition_of(*request_.head));
    const Status status = store->remove(request_.address.key, options, context);
    // S3 makes no difference between what is gone now and what never was.
    const bool is_gone = status.failed_with(ErrorCode::kNotFound) &&
                         options.precondition.kind == Precondition::Kind::kNone;
    if (!status.ok() && !is_gone) return status.error();
    Answer answer;
    answer.status = 204;
    return answer;
  }
};

}  // namespace

std::unique_ptr<Exchange> make_delete_object(S3Request request, Buckets& buckets) {
  return std::make_unique<DeleteObject>(std::move(request), buckets);
}

}  // namespace leat::doors::http::s3
