#include "collector/core/communication.h"

#include "collector/core/emit.h"
#include "tests/core/spool_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sonde::core {
namespace {

TEST(Communication, AChannelThatCannotBeDefinedIsItsCallersToCount) {
  const auto dumps = record(
      [] {
        const std::uint32_t name = intern("value");
        while (emitMark(name, wire::Probe::Annotation)) {
        }
        std::uint32_t defined = 0;
        while (defineChannel(wire::ChannelKind::Pipe, 0, "", "") != 0)
          ++defined;
        EXPECT_GT(defined, 0U);
        EXPECT_EQ(defineCommunicator("", nullptr, 2, 0, wire::Probe::Gloo), 0U);
      },
      1 << 20);
  EXPECT_EQ(dumps.at(0).lost(wire::LossReason::Definitions), 0U);
}

TEST(Communication, AddressesOfChannelsTakeNoNames) {
  const auto dumps = record([] {
    for (int channel = 0; channel < 30'000; ++channel) {
      const std::string address = "unix:" + std::to_string(channel);
      EXPECT_NE(defineChannel(wire::ChannelKind::Unix, 0, address.c_str(), (address + "0").c_str()),
                0U);
    }
    beginScope(wire::SliceKind::Operation, intern("late"), wire::Probe::Annotation);
  });
  EXPECT_THAT(dumps.at(0).story(), ::testing::ElementsAre("begin late"));
  EXPECT_EQ(dumps[0].lost(wire::LossReason::Names), 0U);
}

TEST(Communication, AHintLastsUntilItIsTakenBack) {
  CommunicatorHint hint{};
  const std::int32_t ranks[] = {4, 6};
  setCommunicatorHint("pair", ranks, 2);
  ASSERT_TRUE(readCommunicatorHint(hint));
  EXPECT_STREQ(hint.key, "pair");
  EXPECT_EQ(hint.size, 2);
  EXPECT_EQ(hint.ranks[1], 6);
  setCommunicatorHint(nullptr, nullptr, 0);
  EXPECT_FALSE(readCommunicatorHint(hint));
  setCommunicatorHint(std::string(CommunicatorHint::kKeyBytes, 'k').c_str(), ranks, 2);
  EXPECT_FALSE(readCommunicatorHint(hint));
}

TEST(Communication, AHintIsReadWholeWhileOthersAreGiven) {
  constexpr std::int32_t kRanks = 300;
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b'}) {
    writers.emplace_back([&done, letter] {
      const std::string key(100, letter);
      const std::vector<std::int32_t> ranks(kRanks, letter);
      while (!done.load()) {
        setCommunicatorHint(key.c_str(), ranks.data(), kRanks);
        std::this_thread::sleep_for(std::chrono::microseconds(1));
      }
    });
  }
  CommunicatorHint hint{};
  for (int read = 0; read < 20'000;) {
    if (!readCommunicatorHint(hint))
      continue;
    ++read;
    const std::string_view key(hint.key);
    ASSERT_EQ(key.size(), 100U);
    ASSERT_EQ(key.find_first_not_of(key[0]), std::string_view::npos);
    ASSERT_TRUE(
        std::all_of(hint.ranks, hint.ranks + kRanks, [&](int rank) { return rank == key[0]; }));
  }
  done.store(true);
  for (std::thread& writer : writers)
    writer.join();
}

}  // namespace
}  // namespace sonde::core
