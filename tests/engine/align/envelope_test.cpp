#include "analysis/engine/align/envelope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace sonde::engine::align {
namespace {

using ::testing::Lt;
using ::testing::SizeIs;

// How high a line of this slope can be without crossing a bound.
double highest(const std::vector<Bound>& bounds, double slope) {
  double least = 1e18;
  for (const Bound& bound : bounds)
    least = std::min(
        least, static_cast<double>(bound.apartNs) - slope * static_cast<double>(bound.sentNs));
  return least;
}

TEST(Envelope, EveryLineTouchesABoundThatIsKept) {
  std::mt19937_64 random(3);
  std::vector<Bound> all;
  Envelope envelope;
  for (int each = 0; each < 50'000; ++each) {
    const Bound bound{static_cast<std::int64_t>(random() % 600'000'000'000),
                      30'000 + static_cast<std::int64_t>(random() % 500'000)};
    all.push_back(bound);
    envelope.add(bound);
  }
  EXPECT_THAT(envelope.bounds(), SizeIs(Lt(3000U)));
  EXPECT_EQ(envelope.count(), 50'000);
  EXPECT_TRUE(std::is_sorted(envelope.bounds().begin(),
                             envelope.bounds().end(),
                             [](const Bound& a, const Bound& b) { return a.sentNs < b.sentNs; }));
  for (const double slope : {0.0, 1e-9, -3e-6, 50e-6, -400e-6})
    EXPECT_DOUBLE_EQ(highest(envelope.bounds(), slope), highest(all, slope)) << slope;
}

// As dPRO does, which keeps only the last observation of a pair.
TEST(Envelope, ALooserBoundAtTheSameTimeChangesNothing) {
  Envelope envelope;
  for (const std::int64_t apart : {400, 300, 900})
    envelope.add({5, apart});
  ASSERT_THAT(envelope.bounds(), SizeIs(1));
  EXPECT_EQ(envelope.bounds()[0].apartNs, 300);
}

}  // namespace
}  // namespace sonde::engine::align
