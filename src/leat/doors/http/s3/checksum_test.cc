#include "leat/doors/http/s3/checksum.h"

#include <gtest/gtest.h>

namespace leat::doors::http::s3 {
namespace {

TEST(Checksum, StandardVectors) {
  EXPECT_EQ(hex_of(digest_of(Algorithm::kMd5, "")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex_of(digest_of(Algorithm::kCrc32, "123456789")), "cbf43926");
  EXPECT_EQ(hex_of(digest_of(Algorithm::kCrc32c, "123456789")), "e3069283");
  EXPECT_EQ(hex_of(digest_of(Algorithm::kCrc64Nvme, "123456789")), "ae8b14860a799888");
  EXPECT_EQ(hex_of(digest_of(Algorithm::kSha1, "abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex_of(digest_of(Algorithm::kSha256, "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Checksum, OfAWholeFromItsParts) {
  for (const Algorithm algorithm : {Algorithm::kCrc32, Algorithm::kCrc32c, Algorithm::kCrc64Nvme}) {
    EXPECT_EQ(combine(algorithm, digest_of(algorithm, "1234"), digest_of(algorithm, "56789"), 5),
              digest_of(algorithm, "123456789"));
  }
}

TEST(Checksum, Base64HasOneTextForEachValue) {
  for (const auto& [bytes, text] : {std::pair<std::string, std::string>{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"\xff\xfe\xfd\xfc", "//79/A=="}}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zh==", "Zg===", "Zm9v=", "Zm9v ", "Zm-v", "=", "=Zg="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

TEST(Checksum, IsToldAsItIsKept) {
  EXPECT_EQ(checksum_headers({{"crc32", "cbf43926"}, {"s3-parts", "5"}, {"md5", "00"}}),
            "x-amz-checksum-crc32: y/Q5Jg==\r\nx-amz-checksum-type: FULL_OBJECT\r\n");
  EXPECT_EQ(checksum_headers({{"crc32-composite", "cbf43926-3"}}),
            "x-amz-checksum-crc32: y/Q5Jg==-3\r\nx-amz-checksum-type: COMPOSITE\r\n");
  EXPECT_EQ(checksum_elements({{"crc32", "cbf43926"}}).at("ChecksumCRC32"), "y/Q5Jg==");
}

}  // namespace
}  // namespace leat::doors::http::s3
