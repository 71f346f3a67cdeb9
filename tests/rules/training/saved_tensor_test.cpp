#include "rules/facts/saved_tensor.h"

#include "tests/rules/training/tensor_values.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SavedTensors : public ::testing::Test {
 protected:
  // A file of a tensor of two elements, or of the given number.
  TensorFact write(const std::string& bytes, std::int64_t elements = 2) {
    sonde::test::writeText(folder_ / "t.npy", bytes);
    TensorFact fact;
    fact.elements = elements;
    fact.file = "t.npy";
    return fact;
  }
  auto read(const TensorFact& fact) const { return readSavedTensor(folder_.path(), fact); }
  std::string refusal(const TensorFact& fact) const {
    const auto tensor = read(fact);
    return tensor ? std::string("it was read") : tensor.error().message;
  }

  sonde::test::TemporaryFolder folder_;
};

TEST_F(SavedTensors, AllTypesOfTheProbeAreRead) {
  const auto values = [&](const std::string& type, const std::string& bytes) {
    TensorFact fact = write(test::npyHeader(type, "2,") + bytes);
    fact.dtype = type == "<u2" ? "bfloat16" : "";
    return sonde::test::must(read(fact)).values;
  };
  EXPECT_THAT(values("|b1", std::string("\x01\x00", 2)), ElementsAre(1, 0));
  EXPECT_THAT(values("|u1", "\xff\x02"), ElementsAre(255, 2));
  EXPECT_THAT(values("|i1", "\xff\x02"), ElementsAre(-1, 2));
  EXPECT_THAT(values("<i2", std::string("\xfe\xff\x03\x00", 4)), ElementsAre(-2, 3));
  EXPECT_THAT(values("<i4", std::string("\xfe\xff\xff\xff\x00\x01\x00\x00", 8)),
              ElementsAre(-2, 256));
  EXPECT_THAT(values("<i8", std::string("\x07\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16)),
              ElementsAre(7, -1));
  EXPECT_THAT(values("<f2", std::string("\x00\xc1\x01\x00", 4)), ElementsAre(-2.5, 0x1p-24));
  EXPECT_THAT(values("<f2", std::string("\x00\x7c\x55\x35", 4)), ElementsAre(HUGE_VAL, 0x1.554p-2));
  EXPECT_THAT(values("<u2", std::string("\x20\xc0\x80\x3f", 4)), ElementsAre(-2.5, 1));
  EXPECT_THAT(values("<f4", std::string("\x00\x00\x20\xc0\x00\x00\x80\x3f", 8)),
              ElementsAre(-2.5, 1));
  EXPECT_THAT(values("<f8", std::string("\0\0\0\0\0\0\x04\xc0\0\0\0\0\0\0\xf0\x3f", 16)),
              ElementsAre(-2.5, 1));
}

TEST_F(SavedTensors, TheOffsetIsThePlaceOfTheHeader) {
  const std::string first = test::npyHeader("|u1", "1,") + "\x09";
  TensorFact fact = write(first + test::npyHeader("|u1", "1,2,") + "\x07\x08");
  fact.fileOffset = static_cast<std::int64_t>(first.size());
  const SavedTensor tensor = sonde::test::must(read(fact));
  EXPECT_THAT(tensor.shape, ElementsAre(1, 2));
  EXPECT_THAT(tensor.values, ElementsAre(7, 8));
}

TEST_F(SavedTensors, ANumberHasNoDimensions) {
  EXPECT_THAT(sonde::test::must(read(write(test::npyHeader("|u1", "") + "\x05", 1))).values,
              ElementsAre(5));
}

TEST_F(SavedTensors, AnotherTensorOrATornFileIsRefused) {
  EXPECT_THAT(refusal(write(test::npyHeader("|u1", "3,") + "\x07\x08\x09")),
              HasSubstr("is not a tensor of 2 elements"));
  EXPECT_THAT(refusal(write(test::npyHeader("|u1", "2,") + "\x07")), HasSubstr("ends early"));
  EXPECT_THAT(refusal(write("")), HasSubstr("is not a tensor"));
  EXPECT_THAT(refusal(write(test::npyHeader("|u1", "2,").substr(0, 40))),
              HasSubstr("is not a tensor"));
  EXPECT_THAT(refusal(write(test::npyHeader("|u1", "-1,-2,") + "\x07\x08")),
              HasSubstr("is not a tensor"));
  EXPECT_THAT(refusal(write(test::npyHeader("|u1", "4294967296,4294967296,2,") + "\x07\x08")),
              HasSubstr("is not a tensor"));
  EXPECT_THAT(refusal(write(test::npyHeader("<c8", "2,") + "\x07\x08")), HasSubstr("type"));
  EXPECT_THAT(refusal(write(test::npyHeader("<u2", "2,") + "abcd")), HasSubstr("type"));
  EXPECT_THAT(refusal(write(test::npyHeader("|u1", "2,"), std::int64_t{1} << 27)),
              HasSubstr("rules read at most"));
  TensorFact beyond = write(test::npyHeader("|u1", "2,") + "\x07\x08");
  beyond.fileOffset = 1'000'000;
  EXPECT_THAT(refusal(beyond), HasSubstr("is not a tensor"));
  beyond.fileOffset = -1;
  EXPECT_THAT(refusal(beyond), HasSubstr("cannot read"));
}

TEST_F(SavedTensors, FilesOutsideOfTheTracesFolderAreNotRead) {
  TensorFact fact = write(test::npyHeader("|u1", "2,") + "\x07\x08");
  std::filesystem::create_directory(folder_.path() / "trace");
  std::filesystem::create_symlink(folder_.path() / "t.npy", folder_.path() / "trace" / "link");
  const auto refused = [&](const std::string& file) {
    fact.file = file;
    const auto tensor = readSavedTensor(folder_.path() / "trace", fact);
    return tensor ? std::string("it was read") : tensor.error().message;
  };
  EXPECT_THAT(refused("../t.npy"), HasSubstr("is not a file in the folder of the trace"));
  EXPECT_THAT(refused(folder_ / "t.npy"), HasSubstr("is not a file in the folder of the trace"));
  EXPECT_THAT(refused("link"), HasSubstr("is not a file in the folder of the trace"));
  EXPECT_THAT(refused("."), HasSubstr("is not a file in the folder of the trace"));
  EXPECT_THAT(refused("none"), HasSubstr("cannot open none"));
  EXPECT_THAT(refused(""), HasSubstr("save = true"));
}

}  // namespace
}  // namespace sonde::rules
