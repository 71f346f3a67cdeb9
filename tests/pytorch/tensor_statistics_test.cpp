#include "plugins/pytorch/tensors/tensor_statistics.h"

#include <gmock/gmock.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <bit>
#include <cmath>
#include <map>
#include <random>

namespace sonde::torch {
namespace {

std::uint64_t bucketOf(double value) {
  return std::bit_cast<std::uint64_t>(value) >> kBucketShift;
}

struct Found {
  Statistics statistics;
  Buckets buckets;
};

Found describeAll(const Strided& tensor) {
  Found found;
  EXPECT_TRUE(describe(tensor, found.statistics, found.buckets));
  return found;
}

Found describeRow(const std::vector<double>& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  const std::int64_t stride = 1;
  return describeAll({values.data(), ElementType::Float64, 1, &size, &stride});
}

TEST(TensorStatistics, CountsEachElementOfALayoutOnce) {
  std::vector<float> memory(1000);
  for (std::size_t at = 0; at < memory.size(); ++at)
    memory[at] = static_cast<float>(at);
  // [3, 1, 2] at 100 · i + 7 · k, each twice along a dimension without a stride.
  const std::int64_t sizes[] = {3, 2, 2};
  const std::int64_t strides[] = {100, 0, 7};
  const auto found =
      describeAll({memory.data(), ElementType::Float32, 3, sizes, strides}).statistics;
  EXPECT_EQ(found.elements, 12);
  EXPECT_EQ(found.zeros, 2);
  EXPECT_EQ(found.minimum, 0);
  EXPECT_EQ(found.maximum, 207);
  EXPECT_EQ(found.l1, 2 * (0 + 7 + 100 + 107 + 200 + 207));
  EXPECT_EQ(found.mean, found.l1 / 12);
}

TEST(TensorStatistics, OfNothingAreNone) {
  const std::int64_t sizes[] = {4, 0};
  const std::int64_t strides[] = {1, 1};
  const Found found = describeAll({nullptr, ElementType::Float16, 2, sizes, strides});
  EXPECT_EQ(found.statistics.elements, 0);
  EXPECT_TRUE(std::isinf(found.statistics.minimum));
  EXPECT_TRUE(found.buckets.empty());
}

TEST(TensorStatistics, AnUnknownTypeIsRefused) {
  Statistics statistics;
  Buckets buckets;
  EXPECT_FALSE(
      describe({nullptr, static_cast<ElementType>(99), 0, nullptr, nullptr}, statistics, buckets));
}

TEST(TensorStatistics, EachFiniteNumberIsInItsBucketOnce) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  std::map<std::uint64_t, std::uint64_t> truth;
  for (int at = 0; at < 20'000; ++at)  // all kinds of doubles
    values.push_back(std::bit_cast<double>(random()));
  values.insert(values.end(), {0.0, -0.0, 5e-324, -5e-324, 1.7e308});
  for (const double value : values) {
    if (std::isfinite(value) && value != 0)
      ++truth[bucketOf(value)];
  }
  for (int round = 0; round < 2; ++round) {  // the thread's table is empty again
    const Found found = describeRow(values);
    ASSERT_EQ(found.buckets.size(), truth.size());
    auto expected = truth.begin();
    for (const std::uint64_t bucket : found.buckets) {
      EXPECT_EQ(bucket >> kBucketShift, expected->first);
      EXPECT_EQ(bucket & kCountMask, expected->second);
      ++expected;
    }
    EXPECT_EQ(found.statistics.zeros, 2);
  }
}

TEST(TensorStatistics, AreThoseOfTwoPassesAlsoFarFromZero) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(1e9, 2);
  std::vector<double> values(50'001);
  for (double& value : values)
    value = normal(random);
  long double sum = 0;
  for (const double value : values)
    sum += value;
  const long double mean = sum / static_cast<long double>(values.size());
  long double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  const Statistics found = describeRow(values).statistics;
  EXPECT_NEAR(found.mean, static_cast<double>(mean), 1e-6);
  EXPECT_NEAR(
      found.variance, static_cast<double>(squares / static_cast<long double>(values.size())), 1e-6);
}

#if defined(__x86_64__)
TEST(TensorStatistics, KeepWhatTheProcessorIsTold) {
  const unsigned before = _mm_getcsr();
  constexpr unsigned kFlushes = 0x8040;
  _mm_setcsr(before | kFlushes);
  const Found found = describeRow({1e-310, 2e-310, 0.0});
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(found.statistics.zeros, 1);
  EXPECT_EQ(after, before | kFlushes);
}
#endif

TEST(WithoutRareOnes, KeepsEachElementAndTheFineBucketsOfMost) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> values(100'000);
  for (double& value : values)
    value = normal(random);
  const Buckets all = describeRow(values).buckets;
  const Buckets kept = withoutRareOnes(all);
  const auto sum = [](const Buckets& buckets) {
    std::uint64_t count = 0;
    for (const std::uint64_t bucket : buckets)
      count += bucket & kCountMask;
    return count;
  };
  EXPECT_EQ(sum(kept), sum(all));
  EXPECT_LT(kept.size(), 300U);
  EXPECT_LT(kept.size(), all.size());
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
}

TEST(WithoutRareOnes, NeverHasMoreThanARecordHolds) {
  Buckets all;
  for (std::uint64_t bucket = 0; bucket < kBucketCount; ++bucket)
    all.push_back(bucket << kBucketShift | 1);
  EXPECT_LE(withoutRareOnes(all).size(), 5120U);
  // 64 octaves with enough elements to be kept, and one element in all others.
  for (std::size_t at = 0; at < 64 * 16; ++at)
    all[at] += 1'000'000;
  EXPECT_LE(withoutRareOnes(all).size(), 5120U);
}

}  // namespace
}  // namespace sonde::torch
