#include "leat/doors/http/s3/times.h"

#include <fmt/format.h>

#include <ctime>

namespace leat::doors::http::s3 {

std::string iso_time(std::int64_t time_ns) {
  const std::time_t seconds = time_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     time_ns / 1'000'000 % 1000);
}

}  // namespace leat::doors::http::s3
