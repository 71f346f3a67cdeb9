#include "analysis/engine/pipeline/divided_work.h"

#include <gmock/gmock.h>

namespace sonde::engine::pipeline {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(DividedWork, DividesLayersEvenly) {
  EXPECT_THAT(dividedWork({2, 2, 2, 2}, 2), ElementsAre(4, 4));
  EXPECT_THAT(dividedWork({2, 2, 2, 2}, 8), Each(1));
}

TEST(DividedWork, LeavesTheEmbeddingAndTheLossAtTheirEnds) {
  EXPECT_THAT(dividedWork({3, 2, 2, 7}, 2), ElementsAre(5, 9));
  EXPECT_THAT(dividedWork({3, 2, 2, 7}, 1), ElementsAre(14));
  EXPECT_THAT(dividedWork({2, 2, 2, 7}, 4), ElementsAre(2, 2, 2, 7));
}

TEST(DividedWork, TakesSmallAndInnerDifferencesForLayers) {
  EXPECT_THAT(dividedWork({2.1, 2, 2, 1.9}, 4), Each(DoubleNear(2, 1e-9)));
  EXPECT_THAT(dividedWork({1, 3, 3, 1}, 2), ElementsAre(4, 4));
  EXPECT_THAT(dividedWork({1, 3}, 4), Each(1));
}

}  // namespace
}  // namespace sonde::engine::pipeline
