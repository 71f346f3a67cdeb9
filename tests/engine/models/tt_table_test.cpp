#include "analysis/engine/models/kernels/tt_table.h"

#include "analysis/engine/models/kernels/embedding_lookup.h"

#include <gtest/gtest.h>

namespace sonde::engine::models {
namespace {

// The largest table of Criteo's Kaggle data set, as the authors of TT-Rec divide it: 10,131,227
// rows of 16 numbers.
TEST(TtTable, HasAsManyParametersAsPublished) {
  TtShape shape{{200, 220, 250}, {2, 2, 4}, 16};
  EXPECT_EQ(shape.parameters(), 135'040);
  shape.rank = 32;
  EXPECT_EQ(shape.parameters(), 495'360);
  shape.rank = 64;
  EXPECT_EQ(shape.parameters(), 1'891'840);
}

// (2 × 3) (3 × 4·3), then (2·4 × 3) (3 × 5).
TEST(TtTable, CountsTheProductsOfARow) {
  const TtShape shape{{10, 10, 10}, {2, 4, 5}, 3};
  EXPECT_DOUBLE_EQ(shape.flopsOfRow(), 2 * 2 * 3 * 12 + 2 * 8 * 3 * 5);
  EXPECT_EQ(shape.readByRow(), 2 * 3 + 3 * 4 * 3 + 3 * 5);
}

TEST(TtTable, DividesEvenly) {
  const TtShape shape = ttShapeOf(10'131'227, 16, 32);
  EXPECT_EQ(shape.rows, (std::array<std::int64_t, 3>{217, 217, 216}));
  EXPECT_EQ(shape.dims, (std::array<std::int64_t, 3>{2, 2, 4}));
  EXPECT_EQ(ttShapeOf(1, 7, 1).dims, (std::array<std::int64_t, 3>{1, 1, 7}));
  EXPECT_EQ(ttShapeOf(1, 7, 1).rows, (std::array<std::int64_t, 3>{1, 1, 1}));
  for (const std::int64_t rows : {2, 9, 1000, 1001, 123'457}) {
    const auto of = ttShapeOf(rows, 64, 8).rows;
    EXPECT_GE(of[0] * of[1] * of[2], rows);
    EXPECT_LE(of[0] * of[1] * (of[2] - 1), rows);
  }
}

// The tensors are in the cache, so a compressed table is bound by it or by arithmetic: rows of 8
// numbers as 2 × 2 × 2, of rank 4, need 2·(2·4·8) + 2·(4·4·2) operations and 48 numbers.
TEST(TtTable, ComputesItsLookups) {
  EmbeddingTable table{1000, 8, 10, 100};
  table.ttRank = 4;
  LookupDevice device{1e9, 1e9, 1, 2};
  EXPECT_DOUBLE_EQ(lookupForwardNs(table, device, 1), 100 * 10 * 192 / 2.0);
  EXPECT_DOUBLE_EQ(lookupBackwardNs(table, device, 1), 3 * 100 * 10 * 192 / 2.0);
  device = {1e9, 2, 1, 1e9};
  EXPECT_DOUBLE_EQ(lookupForwardNs(table, device, 1), 100 * (96 + 64 + 10 * 48 * 4 + 32) / 2.0);
  EXPECT_DOUBLE_EQ(table.bytes(), 4 * (10 * 2 * 4 + 4 * 10 * 2 * 4 + 4 * 10 * 2));
}

}  // namespace
}  // namespace sonde::engine::models
