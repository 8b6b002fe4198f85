// Times as S3 writes them in XML: "2006-02-03T16:45:09.000Z".
#pragma once

#include <cstdint>
#include <string>

namespace leat::doors::http::s3 {

std::string iso_time(std::int64_t time_ns);

}  // namespace leat::doors::http::s3
