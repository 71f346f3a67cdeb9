#include "analysis/engine/models/kernels/embedding_lookup.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sonde::engine::models {
namespace {

constexpr EmbeddingTable kTable{1000, 64, 10, 100};

LookupDevice device(double cacheRows) {
  return {1000, 4000, cacheRows * 64 * 4 / 0.9, 1e9};
}

// For a sample: 64 bytes of indices, 10 rows of 256 bytes, 256 of the result, 96 of offsets.
TEST(EmbeddingLookup, MovesAllRowsWithoutACache) {
  EXPECT_EQ(cacheHits(kTable, device(0), 1), 0);
  EXPECT_NEAR(lookupForwardNs(kTable, device(0), 1), 1.1 * 100 * (64 + 2560 + 256) / 1000, 1e-9);
  EXPECT_NEAR(lookupBackwardNs(kTable, device(0), 1), 100.0 * (64 + 5120 + 256) / 1000, 1e-9);
}

// 1000 lookups find 632 different rows of 1000.
TEST(EmbeddingLookup, HitsRowsAgainWhereAllFit) {
  const double unique = 1000 * (1 - std::pow(0.999, 1000));
  EXPECT_NEAR(cacheHits(kTable, device(1000), 1), 1 - unique / 1000, 1e-9);
  EXPECT_NEAR(lookupForwardNs(kTable, device(1000), 1),
              1.1 * 100 * (64 + 2.56 * unique + 256) / 1000,
              1e-6);
  // Lookups in a million rows hardly meet.
  EXPECT_LT(cacheHits({1'000'000, 64, 10, 100}, device(1000), 1), 0.001);
}

// The first 100 rows fill the cache; each later one is in it with a probability of a tenth.
TEST(EmbeddingLookup, HitsTheCachedPartOfTheRows) {
  EXPECT_NEAR(cacheHits(kTable, device(100), 1), 0.09, 1e-9);
  EXPECT_NEAR(cacheHits(kTable, device(200), 2), 0.09, 1e-9) << "two tables share the cache";
}

// With popular rows the cache has those: of four rows, of shares 12/25, 6/25, 4/25 and 3/25, two.
TEST(EmbeddingLookup, HitsPopularRows) {
  EmbeddingTable table{4, 64, 10, 100};
  table.skew = 1;
  EXPECT_NEAR(cacheHits(table, device(2), 1), 18.0 / 25 - 2.0 / 1000, 1e-6);
  EXPECT_NEAR(cacheHits(table, device(100), 1), 1 - 4.0 / 1000, 1e-6);
}

TEST(EmbeddingLookup, IsBoundByCacheOrArithmetic) {
  LookupDevice slow = device(0);
  slow.cacheBytesPerNs = 100;
  EXPECT_NEAR(lookupForwardNs(kTable, slow, 1), 1.1 * (96 + 64 + 2560 + 256), 1e-9);
  slow.flopsPerNs = 1;
  EXPECT_NEAR(lookupBackwardNs(kTable, slow, 1), 2 * 100 * 10 * 64, 1e-9);
}

TEST(EmbeddingLookup, TakesLongerOnNarrowRows) {
  const auto ofDim = [](std::int64_t dim) {
    const EmbeddingTable table{1000, dim, 1, 1000};
    const double rows = 2 * std::ceil(4.0 * static_cast<double>(dim) / 32) * 32;
    return lookupForwardNs(table, device(0), 1) / (32 + rows);
  };
  EXPECT_NEAR(ofDim(128), 1, 1e-9);
  EXPECT_NEAR(ofDim(64), 1.1, 1e-9);
  EXPECT_NEAR(ofDim(32), 1.55, 1e-9);
}

}  // namespace
}  // namespace sonde::engine::models
