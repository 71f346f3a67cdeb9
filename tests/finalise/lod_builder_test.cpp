#include "analysis/finalise/lod_builder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace sonde::store {
namespace {

using Events = std::vector<LineEvent>;
using Rows = std::vector<LodRow>;

// Events of one line: bursts of short ones, long ones, gaps of all sizes, some without duration.
Events randomEvents(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto upTo = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  Events events;
  std::int64_t now = 1'700'000'000'000'000'000;
  for (int i = 0; i < count; ++i) {
    now += upTo(std::int64_t{1} << upTo(24));
    const std::int64_t duration = random() % 10 == 0 ? 0 : upTo(std::int64_t{1} << upTo(26));
    events.push_back(
        {i + 1, now, duration, upTo(5) + 1, upTo(1000), random() % 2 == 0 ? "api" : "wait"});
    now += duration;
  }
  return events;
}

Rows build(const Events& events, LevelRange levels) {
  Rows rows;
  LodBuilder builder(levels, [&](const LodRow& row) { rows.push_back(row); });
  for (const LineEvent& event : events)
    builder.add(event);
  builder.finish();
  return rows;
}

Rows ofLevel(const Rows& rows, int level) {
  Rows chosen;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(chosen), [=](const LodRow& row) {
    return row.level == level;
  });
  return chosen;
}

// The definition in its simplest form: group, then evaluate each group.
Rows bruteForce(const Events& events, int level) {
  const std::int64_t width = std::int64_t{1} << level;
  std::map<std::pair<std::int64_t, std::int64_t>, Events>
      groups;  // by (bucket, id of a long event or 0)
  for (const LineEvent& event : events)
    groups[{event.startNs / width, event.durNs >= width ? event.id : 0}].push_back(event);
  Rows rows;
  for (const auto& [key, group] : groups) {
    LodRow row;
    row.level = level;
    row.startNs = group.front().startNs;
    const LineEvent* longest = &group.front();
    for (const LineEvent& event : group) {
      row.endNs = std::max(row.endNs, event.startNs + event.durNs);
      row.busyNs += event.durNs;
      row.bytes += event.bytes;
      ++row.count;
      if (event.durNs > longest->durNs)
        longest = &event;
    }
    row.eventId = longest->id;
    row.nameId = longest->nameId;
    row.kind = longest->kind;
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const LodRow& a, const LodRow& b) {
    return a.eventId < b.eventId;
  });
  return rows;
}

void expectSame(const Rows& built, const Rows& expected) {
  ASSERT_EQ(built.size(), expected.size());
  for (std::size_t i = 0; i < built.size(); ++i) {
    EXPECT_EQ(built[i].startNs, expected[i].startNs);
    EXPECT_EQ(built[i].endNs, expected[i].endNs);
    EXPECT_EQ(built[i].busyNs, expected[i].busyNs);
    EXPECT_EQ(built[i].count, expected[i].count);
    EXPECT_EQ(built[i].bytes, expected[i].bytes);
    EXPECT_EQ(built[i].eventId, expected[i].eventId);
    EXPECT_EQ(built[i].nameId, expected[i].nameId);
    EXPECT_EQ(built[i].kind, expected[i].kind);
  }
}

TEST(LodBuilder, EqualsTheDefinitionOnRandomLines) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Events events = randomEvents(seed, 2000);
    const Rows rows = build(events, {10, 30});
    for (int level = 10; level <= 30; level += kLevelStep) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " level " << level);
      expectSame(ofLevel(rows, level), bruteForce(events, level));
    }
  }
}

TEST(LodBuilder, RowsOfALevelAreSortedDisjointAndFew) {
  const Events events = randomEvents(99, 20'000);
  const Rows rows = build(events, {12, 32});
  for (int level = 12; level <= 32; level += kLevelStep) {
    const Rows chosen = ofLevel(rows, level);
    for (std::size_t i = 1; i < chosen.size(); ++i)
      EXPECT_LE(chosen[i - 1].endNs, chosen[i].startNs);
    const std::int64_t widths = ((chosen.back().endNs - chosen.front().startNs) >> level) + 1;
    EXPECT_LE(static_cast<std::int64_t>(chosen.size()), 2 * widths + 2);
  }
}

TEST(LodBuilder, EqualStartsKeepTheirOrder) {
  const Events events{
      {1, 4096, 0, 1, 0, "mark"}, {2, 4096, 0, 2, 0, "mark"}, {3, 4096, 9000, 3, 0, "api"}};
  const Rows rows = build(events, {10, 10});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].eventId, 1);
  EXPECT_EQ(rows[1].eventId, 3);
}

LineSurvey surveyOf(std::int64_t count, std::int64_t spacingNs) {
  LineSurvey survey;
  for (std::int64_t i = 0; i < count; ++i)
    survey.add(i * spacingNs, i * spacingNs + 1);
  return survey;
}

TEST(LineSurvey, AShortLineNeedsNoLevels) {
  EXPECT_FALSE(LineSurvey().levels());
  EXPECT_FALSE(surveyOf(kMaxEventsPerWindow, 1).levels());
  EXPECT_TRUE(surveyOf(kMaxEventsPerWindow + 1, 1).levels());
}

TEST(LineSurvey, BelowItsFirstLevelAWindowOfEventsIsShort) {
  for (const std::int64_t spacing : {3'000, 50'000, 1'000'000}) {
    const auto levels = surveyOf(200'000, spacing).levels();
    ASSERT_TRUE(levels);
    EXPECT_LE((std::int64_t{256} << levels->min) / spacing, kMaxEventsPerWindow + 1) << spacing;
    EXPECT_GT((std::int64_t{256} << (levels->min + kLevelStep)) / spacing, kMaxEventsPerWindow)
        << spacing;
    EXPECT_LE((200'000 * spacing) >> levels->max, 256) << spacing;
  }
}

TEST(LineSurvey, ABurstDecidesForItsWholeLine) {
  LineSurvey survey;
  for (std::int64_t i = 0; i < 10'000; ++i)
    survey.add(i * 1'000'000, i * 1'000'000 + 10);
  for (std::int64_t i = 0; i < 100'000; ++i)
    survey.add(10'000'000'000 + i * 500, 10'000'000'000 + i * 500 + 10);
  ASSERT_TRUE(survey.levels());
  EXPECT_EQ(survey.levels()->min, 12);  // without the burst: 22
}

}  // namespace
}  // namespace sonde::store
