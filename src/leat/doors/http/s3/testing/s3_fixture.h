// The S3 API without a socket: requests as text, answers as the server would send them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "leat/doors/http/s3/service.h"
#include "leat/doors/http/testing/answered.h"
#include "leat/local/testing/local_fixture.h"

namespace leat::doors::http::s3::testing {

using http::testing::Answered;

class S3Test : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = *local::LocalStore::create({directory_.make("drive")}, options());
    ASSERT_TRUE(store_->create_bucket("photos", {}, {}).ok());
    service_.emplace(store_, Access(Anonymous::kWrite), S3Options{});
  }
  virtual local::StoreOptions options() { return local::testing::small_options(); }

  // By way of an exchange, as on the pool.
  Answered ask(const std::string& first_line, const std::string& headers = "",
               const std::string& body = "") {
    const std::string text = fmt::format("{} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n{}\r\n",
                                         first_line, host_, body.size(), headers);
    return http::testing::ask_exchange(*service_, text, body);
  }
  // As on the loop; status 0 when it goes to the pool.
  Answered ask_now(const std::string& first_line, const std::string& headers = "") {
    return http::testing::ask_loop(*service_,
                                   first_line + " HTTP/1.1\r\nHost: node\r\n" + headers + "\r\n");
  }
  // The process ends, with or without a goodbye, and another one starts.
  void restart() {
    service_.reset();
    store_.reset();
    store_ = *local::LocalStore::open({(directory_.path() / "drive").string()}, options());
    service_.emplace(store_, Access(Anonymous::kWrite), S3Options{});
  }

  local::testing::TemporaryDirectory directory_;
  std::shared_ptr<local::LocalStore> store_;
  std::optional<S3Service> service_;
  std::string host_ = "node";
};

}  // namespace leat::doors::http::s3::testing
