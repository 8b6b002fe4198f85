// list_buckets, get_bucket, put_bucket, delete_bucket.
#include <fmt/format.h>

#include <algorithm>

#include "leat/doors/http/native/operation.h"
#include "leat/wire/object_headers.h"

namespace leat::doors::http::native {
namespace {

std::string to_json(const local::BucketInfo& info) {
  return fmt::format("{{\"name\":\"{}\",\"durability\":\"{}\",\"created_ns\":{}}}", info.name,
                     wire::durability_name(info.options.durability), info.created_ns);
}

class BucketOperation final : public Operation {
 public:
  using Operation::Operation;

 protected:
  Result<Answer> perform(const Context& context) override {
    switch (request_.route.row->route) {
      case Route::kListBuckets:
        return list(context);
      case Route::kPutBucket:
        return put(context);
      case Route::kDeleteBucket: {
        RETURN_IF_ERROR(bucket());
        RETURN_IF_ERROR(services_.buckets->remove(request_.route.bucket, context));
        Answer answer;
        answer.status = 204;
        return answer;
      }
      default:
        return get(context);
    }
  }

 private:
  Result<Answer> list(const Context& context) {
    if (request_.signer.access_key.empty() && !allows(Right::kRead, "", "")) {
      return Error(ErrorCode::kPermissionDenied, "this needs a key");
    }
    ASSIGN_OR_RETURN(const auto infos, services_.buckets->list(context));
    std::string text = "{\"buckets\":[";
    std::string_view separator = "\n";
    for (const local::BucketInfo& info : infos) {
      if (!allows(Right::kRead, info.name, "")) continue;
      text += separator;
      text += to_json(info);
      separator = ",\n";
    }
    return json_answer(text + "]}\n");
  }

  Result<Answer> get(const Context& context) {
    ASSIGN_OR_RETURN(const auto infos, services_.buckets->list(context));
    for (const local::BucketInfo& info : infos) {
      if (info.name == request_.route.bucket) return json_answer(to_json(info) + "\n");
    }
    return Error(ErrorCode::kNotFound, "there is no bucket " + request_.route.bucket);
  }

  // Makes it, or gives one that is there these options.
  Result<Answer> put(const Context& context) {
    local::BucketOptions options;
    const auto durability = request_.query.find("durability");
    if (durability) {
      ASSIGN_OR_RETURN(options.durability, wire::parse_durability(*durability));
    }
    Answer answer;
    answer.status = 201;
    Status status = services_.buckets->create(request_.route.bucket, options, context);
    if (status.failed_with(ErrorCode::kAlreadyExists)) {
      answer.status = 204;
      status = durability
                   ? services_.buckets->store()->set_bucket(request_.route.bucket, options, context)
                   : ok_status();
    }
    RETURN_IF_ERROR(status);
    return answer;
  }
};

}  // namespace

std::unique_ptr<Exchange> make_bucket_operation(NativeRequest request, Services& services) {
  return std::make_unique<BucketOperation>(std::move(request), services);
}

}  // namespace leat::doors::http::native
