#include "recorder/flight/slot_ages.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::recorder {
namespace {

SpoolSlot slot(std::uint64_t seq, bool full, std::uint32_t committed = 100) {
  SpoolSlot made;
  made.index = static_cast<std::uint32_t>(seq);
  made.seq = seq;
  made.full = full;
  made.committed = committed;
  return made;
}

std::vector<std::uint64_t> seqs(const SlotAges& ages) {
  std::vector<std::uint64_t> found;
  for (const SlotAges::Aged& aged : ages.full())
    found.push_back(aged.slot.seq);
  return found;
}

using Seqs = std::vector<std::uint64_t>;

TEST(SlotAges, CountFromWhenASlotWasFirstSeenFull) {
  SlotAges ages;
  EXPECT_EQ(ages.look({slot(1, true), slot(2, false)}, false, 1000), 100U);
  EXPECT_EQ(seqs(ages), Seqs({1}));
  EXPECT_EQ(ages.look({slot(1, true), slot(2, true)}, false, 2000), 100U);
  EXPECT_EQ(seqs(ages), Seqs({1, 2}));
  EXPECT_EQ(ages.fullBefore(1000), 0U);
  EXPECT_EQ(ages.fullBefore(1001), 1U);
  EXPECT_EQ(ages.fullBefore(2001), 2U);
  EXPECT_EQ(ages.full().front().fullSinceNs, 1000);
}

TEST(SlotAges, AClaimAnewIsAnotherSlot) {
  SlotAges ages;
  ages.look({slot(1, true)}, false, 1000);
  ages.look({}, false, 1500);  // given back
  auto again = slot(7, true);
  again.index = 1;
  ages.look({again}, false, 2000);
  EXPECT_EQ(ages.fullBefore(1001), 0U);
  EXPECT_EQ(ages.full().front().fullSinceNs, 2000);
}

TEST(SlotAges, OfOneLookTheOldestClaimGoesFirst) {
  SlotAges ages;
  ages.look({slot(9, true)}, false, 1000);
  ages.look({slot(3, true), slot(2, true), slot(9, true)}, false, 2000);
  EXPECT_EQ(seqs(ages), Seqs({9, 2, 3})) << "by when they were full, then by their claim";
}

TEST(SlotAges, WhatWasGivenBackIsNotAmongThem) {
  SlotAges ages;
  ages.look({slot(1, true), slot(2, true), slot(3, true)}, false, 1000);
  ages.forget(2);
  EXPECT_EQ(seqs(ages), Seqs({3}));
}

TEST(SlotAges, WhatAProcessLeftIsFullWhenItIsOver) {
  SlotAges ages;
  ages.look({slot(1, false), slot(2, false, 0)}, false, 1000);
  EXPECT_EQ(seqs(ages), Seqs());
  ages.look({slot(1, false), slot(2, false, 0)}, true, 2000);
  EXPECT_EQ(seqs(ages), Seqs({1})) << "but for what holds nothing";
}

}  // namespace
}  // namespace sonde::recorder
