// The native API without a socket: requests as text, answers as the server would send them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "leat/doors/http/native/service.h"
#include "leat/doors/http/testing/answered.h"
#include "leat/local/testing/local_fixture.h"

namespace leat::doors::http::native {

using http::testing::Answered;

class NativeServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ =
        *local::LocalStore::create({directory_.make("drive")}, local::testing::small_options());
    ASSERT_TRUE(store_->create_bucket("photos", {}, {}).ok());
    buckets_ = std::make_shared<Buckets>(store_);
    serve(Access(Anonymous::kWrite));
  }

  void serve(Access access, NativeOptions options = {}) {
    service_ = std::make_unique<NativeService>(
        buckets_, std::make_shared<const Access>(std::move(access)), stats_, std::move(options));
  }

  // By way of an exchange, as on the pool.
  Answered ask(const std::string& first_line, const std::string& headers = "",
               const std::string& body = "") {
    return http::testing::ask_exchange(
        *service_,
        head_text(first_line, headers, fmt::format("Content-Length: {}\r\n", body.size())), body);
  }
  // As on the loop; status 0 when it goes to the pool.
  Answered ask_now(const std::string& first_line, const std::string& headers = "") {
    return http::testing::ask_loop(*service_, head_text(first_line, headers, ""));
  }
  std::string head_text(std::string_view first_line, std::string_view headers,
                        std::string_view length) const {
    return fmt::format("{} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}{}{}\r\n", first_line, length, headers,
                       asks_like_ours_ ? "x-leat-request: 1\r\n" : "");
  }

  local::testing::TemporaryDirectory directory_;
  std::shared_ptr<local::LocalStore> store_;
  std::shared_ptr<Buckets> buckets_;
  std::shared_ptr<RequestStats> stats_ = std::make_shared<RequestStats>();
  std::unique_ptr<NativeService> service_;
  bool asks_like_ours_ = true;
};

}  // namespace leat::doors::http::native
