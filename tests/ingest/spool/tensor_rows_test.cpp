#include "analysis/ingest/spool/tensor_rows.h"

#include "collector/wire/tensor_records.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace sonde::ingest {
namespace {

using wire::TensorStatistics;

std::uint64_t bucket(double low, std::uint64_t count, bool wholeOctave = false) {
  const std::uint64_t index = std::bit_cast<std::uint64_t>(low) >> TensorStatistics::kBucketShift;
  return index << TensorStatistics::kBucketShift | count |
         (wholeOctave ? TensorStatistics::kWholeOctave : 0);
}

TensorStatistics head() {
  TensorStatistics record{};
  record.header.detail = static_cast<std::uint8_t>(wire::TensorRole::Weight);
  return record;
}

std::vector<std::byte> bytesOf(TensorStatistics record, const std::vector<std::uint64_t>& buckets) {
  record.bucketCount = static_cast<std::uint32_t>(buckets.size());
  std::vector<std::byte> bytes(sizeof record + buckets.size() * sizeof buckets[0]);
  std::memcpy(bytes.data(), &record, sizeof record);
  if (!buckets.empty())
    std::memcpy(bytes.data() + sizeof record, buckets.data(), buckets.size() * sizeof buckets[0]);
  return bytes;
}

TEST(ReadTensor, PutsBucketsInTheOrderOfNumbers) {
  TensorStatistics record = head();
  record.elements = 10;
  record.zeros = 2;
  record.nans = 1;
  record.minimum = -3;
  record.maximum = 1.03;
  model::Tensor row;
  ASSERT_TRUE(readTensor(
      bytesOf(record, {bucket(0.25, 1, true), bucket(1, 3), bucket(-1.5, 1), bucket(-3, 2)}), row));
  EXPECT_EQ(row.role, model::TensorRole::Weight);
  EXPECT_EQ(
      row.histogram,
      "[[-3.125,2],[-3,0],[-1.5625,1],[-1.5,0],[0,2],[0,0],[0.25,1],[0.5,0],[1,3],[1.0625,0]]");
  EXPECT_EQ(row.quantiles[0], -3);  // the middle is outside of the values' range
  EXPECT_EQ(row.quantiles[3], 0);   // the fifth of nine
  EXPECT_EQ(row.quantiles[6], 1.03);
}

TEST(ReadTensor, TellsNothingOfNoElements) {
  TensorStatistics record = head();
  record.elements = 3;
  record.nans = 2;
  record.infs = 1;
  record.minimum = INFINITY;
  record.maximum = -INFINITY;
  model::Tensor row;
  ASSERT_TRUE(readTensor(bytesOf(record, {}), row));
  for (const double value : {row.minimum, row.maximum, row.mean, row.variance, row.quantiles[3]})
    EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(row.histogram, "[]");
}

TEST(ReadTensor, TheLargestNumbersHaveABucket) {
  TensorStatistics record = head();
  record.elements = 1;
  record.minimum = record.maximum = 1.7e308;
  model::Tensor row;
  ASSERT_TRUE(readTensor(bytesOf(record, {bucket(1.7e308, 1)}), row));
  EXPECT_EQ(row.quantiles[3], 1.7e308);
}

TEST(ReadTensor, RefusesWhatCannotBe) {
  const auto refused = [](const auto& change) {
    TensorStatistics record = head();
    record.elements = 5;
    change(record);
    std::vector<std::byte> bytes(sizeof record);
    std::memcpy(bytes.data(), &record, sizeof record);
    model::Tensor row;
    return !readTensor(bytes, row);
  };
  EXPECT_FALSE(refused([](TensorStatistics&) {}));
  EXPECT_TRUE(refused([](TensorStatistics& record) { record.bucketCount = 1; }));
  EXPECT_TRUE(refused([](TensorStatistics& record) { record.bucketCount = ~0U; }));
  using Words = std::vector<std::uint64_t>;
  for (const Words& buckets : {Words{bucket(2, 1), bucket(1, 1)},
                               Words{bucket(1, 1), bucket(1, 1)},
                               Words{bucket(INFINITY, 1)}}) {
    model::Tensor row;
    EXPECT_FALSE(readTensor(bytesOf(head(), buckets), row));
  }
  EXPECT_TRUE(refused([](TensorStatistics& record) { record.header.detail = 0; }));
  EXPECT_TRUE(refused([](TensorStatistics& record) { record.header.detail = 200; }));
  EXPECT_TRUE(refused([](TensorStatistics& record) { record.nans = -1; }));
  EXPECT_TRUE(refused([](TensorStatistics& record) { record.zeros = 6; }));
  EXPECT_TRUE(refused([](TensorStatistics& record) {
    record.nans = 3;
    record.infs = 3;
  }));
}

}  // namespace
}  // namespace sonde::ingest
