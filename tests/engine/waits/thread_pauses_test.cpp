#include "analysis/engine/waits/thread_pauses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::waits {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kUs = 1000;

std::vector<std::int64_t> beginsOf(const std::vector<Pause>& pauses) {
  std::vector<std::int64_t> begins;
  for (const Pause& pause : pauses)
    begins.push_back(pause.begin);
  return begins;
}

TEST(IdlePauses, AreLongOnesWhereNobodyCountsTheThreadsTime) {
  EXPECT_THAT(beginsOf(idlePauses({{0, 30 * kUs}, {40 * kUs, 300 * kUs}}, {})),
              ElementsAre(40 * kUs));
}

// 1,000 µs with pauses of 30 µs, in which the thread always computed.
TEST(IdlePauses, AThreadThatRanAllTheTimeHadNone) {
  std::vector<Pause> pauses;
  for (std::int64_t at = 0; at < 25; ++at)
    pauses.push_back({at * 40 * kUs, at * 40 * kUs + 30 * kUs});
  EXPECT_THAT(idlePauses(pauses, {{0, 1000 * kUs, 10 * kUs}}), IsEmpty());
}

TEST(IdlePauses, OfOneThatWasBlockedForAWhileTheLongestAre) {
  const std::vector<Pause> pauses = {
      {0, 30 * kUs}, {100 * kUs, 400 * kUs}, {500 * kUs, 530 * kUs}, {600 * kUs, 800 * kUs}};
  EXPECT_THAT(beginsOf(idlePauses(pauses, {{0, 1000 * kUs, 500 * kUs}})),
              ElementsAre(100 * kUs, 600 * kUs));
  EXPECT_THAT(beginsOf(idlePauses(pauses, {{0, 1000 * kUs, 560 * kUs}})),
              ElementsAre(0, 100 * kUs, 500 * kUs, 600 * kUs));
}

TEST(IdlePauses, OneMayGoOnThroughSeveralLooksAtTheThread) {
  const std::vector<Accounted> looks = {{0, 100 * kUs, 60 * kUs},
                                        {100 * kUs, 200 * kUs, 100 * kUs},
                                        {200 * kUs, 300 * kUs, 50 * kUs}};
  EXPECT_THAT(beginsOf(idlePauses({{50 * kUs, 240 * kUs}}, looks)), ElementsAre(50 * kUs));
  EXPECT_THAT(idlePauses({{50 * kUs, 90 * kUs}}, {{0, 100 * kUs, 10 * kUs}}), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::waits
