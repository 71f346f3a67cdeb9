#include "analysis/ingest/input/external_sorter.h"

#include "tests/support/run_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace sonde::ingest {
namespace {

struct Record {
  std::uint32_t key = 0;
  std::uint32_t payload = 0;
};
struct ByKey {
  bool operator()(const Record& a, const Record& b) const noexcept { return a.key < b.key; }
};

TEST(ExternalSorter, SortsAnyNumberOfRecordsInBoundedMemory) {
  const test::TemporaryFolder folder;
  std::mt19937 random(1);
  for (const std::size_t count : {0U, 1U, 100U, 101U, 100'000U}) {
    ExternalSorter<Record, ByKey> sorter(folder.path(), 100);
    std::vector<std::uint32_t> keys;
    for (std::size_t at = 0; at < count; ++at) {
      keys.push_back(static_cast<std::uint32_t>(random()));
      ASSERT_TRUE(sorter.add({keys.back(), ~keys.back()}));
    }
    std::sort(keys.begin(), keys.end());
    ASSERT_TRUE(sorter.sort());
    Record record;
    for (const std::uint32_t key : keys) {
      const auto more = sorter.next(record);
      ASSERT_TRUE(more && *more);
      ASSERT_EQ(record.key, key);
      ASSERT_EQ(record.payload, ~key);
    }
    const auto end = sorter.next(record);
    EXPECT_TRUE(end && !*end);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a file with a name was left";
  }
}

// The values are from reference/rl-scope.md, section 4, in runs of three on disk.
TEST(ExternalSorter, Case11MergesRunsThatHoldTheSame) {
  const test::TemporaryFolder folder;
  ExternalSorter<Record, ByKey> sorter(folder.path(), 3);
  for (const char key : std::string("bciabiabdefghi"))
    ASSERT_TRUE(sorter.add({static_cast<std::uint32_t>(key), 0}));
  ASSERT_TRUE(sorter.sort());
  std::string merged;
  for (Record record; *sorter.next(record);)
    merged += static_cast<char>(record.key);
  EXPECT_EQ(merged, "aabbbcdefghiii");
}

TEST(ExternalSorter, SaysWhenItHasNoPlaceForItsRuns) {
  ExternalSorter<Record, ByKey> sorter("/nonexistent", 1);
  ASSERT_TRUE(sorter.add({}));
  const auto second = sorter.add({});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("cannot write to '/nonexistent'"), std::string::npos);
}

}  // namespace
}  // namespace sonde::ingest
