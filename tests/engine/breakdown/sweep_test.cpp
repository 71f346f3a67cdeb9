#include "analysis/engine/breakdown/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

using Set = std::vector<Label>;
using Totals = std::map<Set, std::int64_t>;
using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr Label kA = 0;
constexpr Label kB = 1;
constexpr Label kC = 2;

// Each label's times, which may overlap.
std::vector<Track> tracksOfTimes(const std::map<Label, Times>& times) {
  std::vector<Track> tracks;
  for (const auto& [label, spans] : times) {
    std::vector<Span> own;
    for (const auto& [begin, end] : spans)
      own.push_back({begin, end, label});
    for (Track& track : tracksOf(std::move(own)))
      tracks.push_back(std::move(track));
  }
  return tracks;
}

std::vector<Set> labelsOf(const SweepResult& result) {
  std::vector<Set> sets(result.sets.size());
  std::set<Label> active;
  result.forEachSet(
      [&](Label label, bool isActive) {
        if (isActive)
          EXPECT_TRUE(active.insert(label).second);
        else
          EXPECT_EQ(active.erase(label), 1U);
      },
      [&](std::size_t at) {
        EXPECT_TRUE(sets[at].empty()) << "each set is visited once";
        sets[at].assign(active.begin(), active.end());
      });
  return sets;
}

Totals totalsOf(const SweepResult& result) {
  const std::vector<Set> labels = labelsOf(result);
  Totals totals;
  for (std::size_t at = 0; at < labels.size(); ++at)
    if (!labels[at].empty())
      totals[labels[at]] = result.sets[at].ns;
  return totals;
}

Totals totals(const std::map<Label, Times>& times) {
  return totalsOf(sweep(tracksOfTimes(times)));
}

// Times in which exactly these sets are active for the given lengths, one after the other.
std::map<Label, Times> timesOf(const Totals& exclusive) {
  std::map<Label, Times> times;
  std::int64_t begin = 0;
  for (const auto& [set, ns] : exclusive) {
    for (const Label label : set)
      times[label].emplace_back(begin, begin + ns);
    begin += ns;
  }
  return times;
}

// How long each set of labels was active, alone or with others: a sweep of only these labels.
Totals inclusive(const std::map<Label, Times>& times) {
  const std::vector<std::pair<Label, Times>> labels(times.begin(), times.end());
  Totals all;
  for (std::size_t chosen = 1; chosen < std::size_t{1} << labels.size(); ++chosen) {
    std::map<Label, Times> part;
    Set set;
    for (std::size_t at = 0; at < labels.size(); ++at)
      if ((chosen >> at & 1U) != 0) {
        part.insert(labels[at]);
        set.push_back(labels[at].first);
      }
    const Totals swept = totals(part);
    if (const auto found = swept.find(set); found != swept.end())
      all.insert(*found);
  }
  return all;
}

// The numbers are those of reference/rl-scope.md, section 4, in seconds there.
const std::map<Label, Times> kComplete = {
    {kA, {{3, 7}, {8, 10}}}, {kB, {{1, 4}, {6, 9}}}, {kC, {{2, 5}, {7, 8}, {11, 12}}}};
const Totals kCompleteTotals = {{{kA}, 2},
                                {{kB}, 1},
                                {{kC}, 1},
                                {{kA, kB}, 2},
                                {{kA, kC}, 1},
                                {{kB, kC}, 2},
                                {{kA, kB, kC}, 1}};

TEST(Sweep, Case1EverySetHasItsTime) {
  EXPECT_EQ(totals(kComplete), kCompleteTotals);
}

TEST(Sweep, Case1EverySetHasItsExtent) {
  std::map<Set, std::pair<std::int64_t, std::int64_t>> extents;
  const SweepResult result = sweep(tracksOfTimes(kComplete));
  const std::vector<Set> labels = labelsOf(result);
  for (std::size_t at = 0; at < labels.size(); ++at)
    extents[labels[at]] = {result.sets[at].firstNs, result.sets[at].lastNs};
  // The gap from 10 to 11 is the empty set's.
  const decltype(extents) expected = {{{}, {10, 11}},
                                      {{kA}, {5, 10}},
                                      {{kB}, {1, 2}},
                                      {{kC}, {11, 12}},
                                      {{kA, kB}, {6, 9}},
                                      {{kA, kC}, {4, 5}},
                                      {{kB, kC}, {2, 8}},
                                      {{kA, kB, kC}, {3, 4}}};
  EXPECT_EQ(extents, expected);
}

TEST(Sweep, Case2PiecesThatTouchAreOne) {
  EXPECT_EQ(totals({{kA, {{3, 4}, {8, 10}, {4, 7}}},
                    {kB, {{1, 4}, {6, 9}}},
                    {kC, {{2, 3}, {4, 5}, {7, 8}, {3, 4}, {11, 12}}}}),
            kCompleteTotals);
}

TEST(Sweep, Case3WhatOverlapsOneOfThem) {
  Totals with;
  for (const auto& [set, ns] : totals(kComplete))
    if (std::binary_search(set.begin(), set.end(), kA))
      with[set] = ns;
  EXPECT_EQ(with, (Totals{{{kA}, 2}, {{kA, kB}, 2}, {{kA, kC}, 1}, {{kA, kB, kC}, 1}}));
}

TEST(Sweep, Case4WhatOverlapsItselfCountsOnce) {
  EXPECT_EQ(totals({{kA, {{3, 5}, {4, 6}}}}), (Totals{{{kA}, 3}}));
  EXPECT_EQ(totals({{kA, {{3, 6}, {4, 5}}}}), (Totals{{{kA}, 3}}));
  EXPECT_EQ(totals({{kA, {{3, 6}, {3, 6}}}}), (Totals{{{kA}, 3}}));
  EXPECT_EQ(totals({{kA, {{3, 6}, {2, 5}}}}), (Totals{{{kA}, 4}}));
}

TEST(Sweep, Case5WhatOverlapsItselfAndOthers) {
  const Times c1 = {{1, 6}, {2, 6}, {3, 7}, {4, 6}};
  EXPECT_EQ(totals({{kA, c1}, {kB, {{4, 5}}}}), (Totals{{{kA}, 5}, {{kA, kB}, 1}}));
  // In half seconds.
  EXPECT_EQ(totals({{kA, {{2, 12}, {4, 12}, {6, 14}, {8, 12}}},
                    {kB, {{8, 9}, {9, 10}, {10, 18}, {10, 16}}},
                    {kC, {{10, 18}}}}),
            (Totals{{{kA}, 6}, {{kA, kB}, 2}, {{kA, kB, kC}, 4}, {{kB, kC}, 4}}));
}

TEST(Sweep, Case6AdjacentPiecesAreOneTime) {
  const SweepResult result = sweep(tracksOfTimes({{kA, {{1, 6}, {2, 6}, {3, 7}, {4, 6}}}}));
  ASSERT_EQ(result.sets.size(), 2U);
  EXPECT_EQ(result.sets[1].firstNs, 1);
  EXPECT_EQ(result.sets[1].lastNs, 7);
  EXPECT_TRUE(result.transitions.empty());
}

TEST(Sweep, Case10InclusiveTimesAreSumsOverSetsThatHoldThem) {
  struct Case {
    Totals exclusive;
    Totals inclusive;
  };
  const Case cases[] = {
      {{{{0}, 3}, {{1}, 3}, {{2}, 3}, {{0, 1}, 1}, {{0, 2}, 1}, {{1, 2}, 1}, {{0, 1, 2}, 1}},
       {{{0}, 6}, {{1}, 6}, {{2}, 6}, {{0, 1}, 2}, {{0, 2}, 2}, {{1, 2}, 2}, {{0, 1, 2}, 1}}},
      {{{{0}, 3}, {{1}, 3}, {{0, 1}, 2}}, {{{0}, 5}, {{1}, 5}, {{0, 1}, 2}}},
      {{{{0}, 1}, {{1}, 2}, {{2}, 2}, {{0, 1}, 1}, {{0, 2}, 1}},
       {{{0}, 3}, {{1}, 3}, {{2}, 3}, {{0, 1}, 1}, {{0, 2}, 1}}},
      {{{{0}, 5}, {{0, 1}, 5}}, {{{0}, 10}, {{1}, 5}, {{0, 1}, 5}}},
      {{{{0, 1}, 5}}, {{{0}, 5}, {{1}, 5}, {{0, 1}, 5}}},
  };
  for (const Case& each : cases) {
    const std::map<Label, Times> times = timesOf(each.exclusive);
    EXPECT_EQ(totals(times), each.exclusive);
    EXPECT_EQ(inclusive(times), each.inclusive);
  }
  EXPECT_EQ(inclusive(kComplete),
            (Totals{{{kA}, 6},
                    {{kB}, 6},
                    {{kC}, 5},
                    {{kA, kB}, 3},
                    {{kA, kC}, 2},
                    {{kB, kC}, 3},
                    {{kA, kB, kC}, 1}}));
}

TEST(Sweep, Case11LabelsPast32And64AndTimesPast53Bits) {
  constexpr std::int64_t kAt = 1'571'625'977'177'087'001;
  const Set labels = {30, 31, 32, 63, 64, 200};
  std::map<Label, Times> times;
  for (const Label label : labels)
    times[label] = {{kAt, kAt + 3}};
  EXPECT_EQ(totals(times), (Totals{{labels, 3}}));
  EXPECT_EQ(sweep(tracksOfTimes(times)).sets[1].firstNs, kAt);
}

TEST(Sweep, CountsTransitionsOfWhatLastedSomeTime) {
  // A hands over to B at 5: there is no time in which neither is active.
  const SweepResult result =
      sweep(tracksOfTimes({{kA, {{0, 5}, {10, 15}}}, {kB, {{5, 10}, {20, 25}}}}));
  const std::vector<Set> labels = labelsOf(result);
  std::map<std::pair<Set, Set>, std::int64_t> counts;
  for (const Transition& transition : result.transitions)
    counts[{labels[transition.from], labels[transition.to]}] = transition.count;
  const decltype(counts) expected = {
      {{{kA}, {kB}}, 1}, {{{kB}, {kA}}, 1}, {{{kA}, {}}, 1}, {{{}, {kB}}, 1}};
  EXPECT_EQ(counts, expected);
}

TEST(Sweep, OfNothingIsNothing) {
  EXPECT_TRUE(totals({}).empty());
  EXPECT_TRUE(totals({{kA, {}}, {kB, {{5, 5}, {7, 3}}}}).empty());
}

TEST(Sweep, TenThousandLabels) {
  std::map<Label, Times> times;
  for (Label label = 0; label < 10'000; ++label)
    times[label] = {{label, label + 2}};
  const Totals all = totals(times);
  EXPECT_EQ(all.size(), 10'001U);
  EXPECT_EQ(all.at({5, 6}), 1);
}

// Instant by instant.
struct Truth {
  Totals totals;
  std::map<std::pair<Set, Set>, std::int64_t> transitions;
};
Truth truthOf(const std::map<Label, Times>& times, std::int64_t end) {
  Truth truth;
  std::vector<Set> instants(static_cast<std::size_t>(end));
  std::int64_t first = end;
  std::int64_t last = 0;
  for (const auto& [label, spans] : times)
    for (const auto& [begin, until] : spans) {
      if (until <= begin)
        continue;
      first = std::min(first, begin);
      last = std::max(last, until);
      for (std::int64_t at = begin; at < until; ++at)
        if (Set& set = instants[static_cast<std::size_t>(at)]; set.empty() || set.back() != label)
          set.push_back(label);
    }
  for (std::int64_t at = first; at < last; ++at) {
    const Set& set = instants[static_cast<std::size_t>(at)];
    if (!set.empty())
      ++truth.totals[set];
    if (at + 1 < last && instants[static_cast<std::size_t>(at) + 1] != set)
      ++truth.transitions[{set, instants[static_cast<std::size_t>(at) + 1]}];
  }
  return truth;
}

TEST(Sweep, IsWhatEachInstantSays) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(random() % most);
  };
  for (int round = 0; round < 100'000; ++round) {
    const std::int64_t end = 1 + below(40);
    std::map<Label, Times> times;
    const std::uint32_t spans = below(14);
    for (std::uint32_t span = 0; span < spans; ++span) {
      const std::int64_t begin = below(static_cast<std::uint32_t>(end));
      const std::int64_t length = below(static_cast<std::uint32_t>(end - begin) + 1);
      // Few labels and sometimes many: the two ways of looking up sets.
      times[round % 2 == 0 ? below(4) : below(4) * 40].emplace_back(begin, begin + length);
    }
    const Truth truth = truthOf(times, end);
    const SweepResult result = sweep(tracksOfTimes(times));
    ASSERT_EQ(totalsOf(result), truth.totals) << "round " << round;
    const std::vector<Set> labels = labelsOf(result);
    std::map<std::pair<Set, Set>, std::int64_t> transitions;
    for (const Transition& transition : result.transitions)
      transitions[{labels[transition.from], labels[transition.to]}] = transition.count;
    ASSERT_EQ(transitions, truth.transitions) << "round " << round;
  }
}

}  // namespace
}  // namespace sonde::engine::breakdown
