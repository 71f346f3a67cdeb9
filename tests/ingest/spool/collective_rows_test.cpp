#include "analysis/ingest/spool/collective_rows.h"

#include "analysis/ingest/rows/dictionary.h"
#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace sonde::ingest {
namespace {

using testing::ElementsAre;

constexpr const char* kEnds =
    "SELECT start_ns, dur_ns FROM collective WHERE start_ns < 1000 ORDER BY start_ns";

class EnqueuedCollectiveRows : public ::testing::Test {
 protected:
  EnqueuedCollectiveRows() {
    for (const auto& [id, word] : {std::pair(1, "RING"), {2, "LL"}, {3, "TREE"}})
      EXPECT_TRUE(dictionary_.define(static_cast<std::uint32_t>(id), word));
  }

  // A recorder that continues from the state of the one before it.
  void record(const std::function<void(CollectiveRows&)>& work) {
    std::vector<std::string> numbers = states();
    rig_.transaction([&](RowSink& sink) {
      CollectiveRows rows(sink, spool_, dictionary_);
      for (const std::string& number : numbers)
        rows.restore(sink.state(spool_, CollectiveRows::kState, std::stoll(number)));
      work(rows);
      rows.save();
    });
  }

  std::vector<std::string> states() {
    return rig_.rows("SELECT key FROM ingest_state WHERE kind = 'collective' ORDER BY key");
  }

  model::Collective startingAt(std::int64_t ns) {
    model::Collective row;
    row.processId = process_;
    row.startNs = ns;
    return row;
  }

  // They end at once if `ends`.
  void addMany(CollectiveRows& rows, std::uint64_t first, std::uint64_t count, bool ends) {
    for (std::uint64_t number = first; number < first + count; ++number) {
      rows.add(number, startingAt(1000), 0, 0);
      if (ends)
        rows.end(number, 1005);
    }
  }

  static constexpr std::uint64_t kMany = 3 * CollectiveRows::kSettledMost;
  test::IngestRig rig_;
  const model::ProcessId process_ = rig_.process();
  const std::string spool_ = "spool";
  Dictionary dictionary_;
};

TEST_F(EnqueuedCollectiveRows, AnotherRecorderGoesOnWithThem) {
  record([&](CollectiveRows& rows) {
    rows.add(5, startingAt(100), 1, 2);
    rows.plan(6, 3, 2);
    EXPECT_NE(rows.idOf(6).value, 0);
  });
  record([&](CollectiveRows& rows) {
    rows.end(5, 130);
    rows.plan(5, 3, 0);
    rows.end(6, 170);
    EXPECT_EQ(rows.idOf(6), rows.add(6, startingAt(150), 0, 0));
    rows.save();
    rows.finish();
  });
  EXPECT_THAT(rig_.rows("SELECT start_ns, dur_ns, algorithm, protocol FROM collective ORDER BY id"),
              ElementsAre("100|30|TREE|-", "150|20|TREE|LL"));
}

TEST_F(EnqueuedCollectiveRows, OneThatOutlivesManyHasItsEndAndItsPlan) {
  record([&](CollectiveRows& rows) {
    const model::CollectiveId id = rows.add(1, startingAt(100), 0, 0);
    addMany(rows, 2, kMany, true);
    rows.end(1, 900);
    rows.plan(1, 3, 2);
    EXPECT_EQ(rows.idOf(1), id);
    rows.finish();
    EXPECT_EQ(rows.lostParts(), 0u);
  });
  EXPECT_THAT(rig_.rows(kEnds), ElementsAre("100|800"));
  EXPECT_THAT(rig_.rows("SELECT count(*), count(dur_ns), count(algorithm) FROM collective"),
              ElementsAre(std::to_string(kMany + 1) + "|" + std::to_string(kMany + 1) + "|1"));
}

TEST_F(EnqueuedCollectiveRows, OneThatOutlivesManyAndARecorderHasItsEnd) {
  record([&](CollectiveRows& rows) {
    rows.add(1, startingAt(100), 0, 0);
    rows.end(2, 700);  // its record has not come yet
  });
  record([&](CollectiveRows& rows) { addMany(rows, 3, kMany, true); });
  EXPECT_EQ(states().size(), 2 + CollectiveRows::kSettledMost);
  record([&](CollectiveRows& rows) {
    rows.end(1, 900);
    rows.add(2, startingAt(200), 0, 0);
    addMany(rows, 3 + kMany, 2, true);
    rows.end(2 + kMany, 1009);  // of the latest of the one before
  });
  EXPECT_EQ(states().size(), CollectiveRows::kSettledMost);
  EXPECT_THAT(rig_.rows(kEnds), ElementsAre("100|800", "200|500"));
  EXPECT_THAT(rig_.rows("SELECT dur_ns, count(*) FROM collective WHERE start_ns = 1000 GROUP BY 1"),
              ElementsAre("5|" + std::to_string(kMany + 1), "9|1"));
}

// If nothing reports ends, all wait for one.
TEST_F(EnqueuedCollectiveRows, WhatComesOfOneThatIsForgottenIsCounted) {
  constexpr std::uint64_t kAll = CollectiveRows::kOthersMost + 2;
  record([&](CollectiveRows& rows) { addMany(rows, 1, kAll, false); });
  EXPECT_EQ(states().size(), CollectiveRows::kOthersMost);
  record([&](CollectiveRows& rows) {
    rows.end(1, 1007);
    rows.join(1);
    rows.end(kAll, 1007);
    rows.save();
    rows.finish();
    EXPECT_EQ(rows.lostParts(), 2u);
  });
  EXPECT_THAT(rig_.rows("SELECT count(*), count(dur_ns) FROM collective"),
              ElementsAre(std::to_string(kAll) + "|1"));
  EXPECT_THAT(rig_.rows("SELECT value FROM ingest_state WHERE kind = 'lost collective parts'"),
              ElementsAre("2"));
}

}  // namespace
}  // namespace sonde::ingest
