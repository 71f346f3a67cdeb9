#include "analysis/engine/metrics/python_time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace sonde::engine::metrics {
namespace {

using Ns = std::array<std::int64_t, kCodeParts>;
using Slice = PythonSweep::Slice;

Slice scope(std::int64_t begin, std::int64_t end, std::size_t operation) {
  return {{begin, end}, CodePart::Python, false, operation};
}

Slice native(std::int64_t begin, std::int64_t end, CodePart part) {
  return {{begin, end}, part, true};
}

std::vector<PythonSweep::Total> sweep(const std::vector<Slice>& slices, std::size_t operations) {
  PythonSweep sweep;
  for (const Slice& slice : slices)
    sweep.add(slice);
  return sweep.finish(operations);
}

TEST(PythonSweep, WhatIsNotNativeIsPython) {
  const auto totals = sweep({scope(0, 100, 0),
                             native(10, 30, CodePart::Framework),
                             native(40, 60, CodePart::Simulator),
                             native(60, 65, CodePart::Other),
                             native(70, 80, CodePart::Waiting)},
                            1);
  EXPECT_EQ(totals[0].ns, (Ns{45, 20, 20, 5, 10}));
  EXPECT_EQ(totals[0].entered, (Ns{0, 1, 1, 1, 1}));
  EXPECT_EQ(totals[1].ns, Ns{});
}

TEST(PythonSweep, TheInnermostCounts) {
  const auto totals = sweep({scope(0, 100, 0),
                             native(10, 50, CodePart::Framework),
                             native(20, 30, CodePart::Simulator),
                             scope(60, 90, 1),
                             native(70, 80, CodePart::Framework)},
                            2);
  EXPECT_EQ(totals[0].ns, (Ns{30, 30, 10, 0, 0}));
  EXPECT_EQ(totals[0].entered, (Ns{0, 1, 0, 0, 0})) << "the inner one was not entered by Python";
  EXPECT_EQ(totals[1].ns, (Ns{20, 10, 0, 0, 0}));
}

TEST(PythonSweep, ACallbackThatAnnotatesIsPython) {
  const auto totals = sweep(
      {native(0, 100, CodePart::Framework), scope(20, 60, 0), native(30, 40, CodePart::Other)}, 1);
  EXPECT_EQ(totals[0].ns, (Ns{30, 0, 0, 10, 0}));
  EXPECT_EQ(totals[0].entered, (Ns{0, 0, 0, 1, 0}));
  EXPECT_EQ(totals[1].ns, (Ns{0, 60, 0, 0, 0}));
}

TEST(PythonSweep, AWaitWithinNativeCodeIsThatCodes) {
  const auto totals =
      sweep({native(0, 100, CodePart::Framework), native(20, 60, CodePart::Waiting)}, 0);
  EXPECT_EQ(totals[0].ns, (Ns{0, 100, 0, 0, 0}));
}

TEST(PythonSweep, BetweenOperationsIsOutside) {
  const auto totals = sweep(
      {scope(0, 10, 0), scope(20, 30, 0), native(33, 35, CodePart::Framework), scope(40, 50, 0)},
      1);
  EXPECT_EQ(totals[0].ns, (Ns{30, 0, 0, 0, 0}));
  EXPECT_EQ(totals[1].ns, (Ns{18, 2, 0, 0, 0}));
}

TEST(PythonSweep, WhatCrossesItsParentEndsWithIt) {
  const auto totals =
      sweep({scope(0, 50, 0), native(40, 70, CodePart::Framework), scope(80, 90, 0)}, 1);
  EXPECT_EQ(totals[0].ns, (Ns{50, 10, 0, 0, 0}));
  EXPECT_EQ(totals[1].ns, (Ns{30, 0, 0, 0, 0}));
}

TEST(PythonSweep, NothingIsNothing) {
  const auto totals = sweep({}, 1);
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].ns, Ns{});
  EXPECT_EQ(totals[1].ns, Ns{});
}

// Against the definition, instant by instant.
TEST(PythonSweep, PartsSumToTheWholeOnRandomSlices) {
  std::mt19937 random(11);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<Slice> slices;
    for (int count = std::uniform_int_distribution(1, 12)(random); count > 0; --count) {
      const auto begin = std::uniform_int_distribution<std::int64_t>(0, 60)(random);
      const auto length = std::uniform_int_distribution<std::int64_t>(0, 40)(random);
      const auto part = static_cast<CodePart>(std::uniform_int_distribution(0, 4)(random));
      if (part == CodePart::Python)
        slices.push_back(scope(begin, begin + length, static_cast<std::size_t>(count % 3)));
      else
        slices.push_back(native(begin, begin + length, part));
    }
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return std::pair(a.time.begin, -a.time.end) < std::pair(b.time.begin, -b.time.end);
    });
    // Each ends with the slice around it.
    std::int64_t last = slices[0].time.begin;
    std::vector<std::int64_t> ends;
    for (const Slice& slice : slices) {
      while (!ends.empty() && ends.back() <= slice.time.begin)
        ends.pop_back();
      ends.push_back(ends.empty() ? slice.time.end : std::min(slice.time.end, ends.back()));
      last = std::max(last, ends.back());
    }
    std::int64_t sum = 0;
    for (const PythonSweep::Total& total : sweep(slices, 3))
      sum = std::accumulate(total.ns.begin(), total.ns.end(), sum);
    ASSERT_EQ(sum, last - slices[0].time.begin) << "round " << round;
  }
}

}  // namespace
}  // namespace sonde::engine::metrics
