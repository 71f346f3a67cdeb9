#include "recorder/calibrate/cost_cache.h"

#include "tests/support/run_program.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <string>

namespace sonde::recorder {
namespace {

using namespace std::chrono_literals;

class CostCacheTest : public testing::Test {
 protected:
  static CachedCosts found() {
    engine::correction::MeasuredCost cost;
    cost.probe = "net";
    cost.api = "transfer";
    cost.cost = {1.5, 20.25, 3};
    cost.errorNs = 2;
    cost.method = engine::correction::method::kMicroLoop;
    cost.unrecordedNs = 4;
    return {{cost}, kWhen};
  }
  CostCache cache(const CostCacheKey& key) const {
    return {folder_.path() / "deep" / "sonde", key};
  }

  static constexpr std::chrono::sys_seconds kWhen{std::chrono::seconds(1'800'000'000)};
  const CostCacheKey key_{"build", "/no/python3", 3};
  test::TemporaryFolder folder_;
};

TEST_F(CostCacheTest, GivesBackWhatWasKept) {
  EXPECT_FALSE(cache(key_).read(kWhen));
  cache(key_).write(found());
  const auto kept = cache(key_).read(kWhen + 1h);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->measured, kWhen);
  ASSERT_EQ(kept->costs.size(), 1U);
  const auto& cost = kept->costs[0];
  EXPECT_EQ(cost.probe, "net");
  EXPECT_EQ(cost.api, "transfer");
  EXPECT_EQ(cost.cost.beforeNs, 1.5);
  EXPECT_EQ(cost.cost.insideNs, 20.25);
  EXPECT_EQ(cost.cost.afterNs, 3);
  EXPECT_EQ(cost.errorNs, 2);
  EXPECT_EQ(cost.unrecordedNs, 4);
  EXPECT_EQ(cost.method, "micro-loop");
}

TEST_F(CostCacheTest, OfAnotherKeyThereIsNothing) {
  cache(key_).write(found());
  EXPECT_FALSE(cache({"other", key_.python, key_.probeMask}).read(kWhen));
  EXPECT_FALSE(cache({key_.build, "/other/python3", key_.probeMask}).read(kWhen));
  EXPECT_FALSE(cache({key_.build, key_.python, 7}).read(kWhen));
  EXPECT_TRUE(cache(key_).read(kWhen));
}

TEST_F(CostCacheTest, AnInterpreterThatWasReplacedIsAnother) {
  const std::string python = folder_ / "python3";
  test::writeText(python, "one");
  const CostCacheKey key{"build", python, 3};
  cache(key).write(found());
  EXPECT_TRUE(cache(key).read(kWhen));
  test::writeText(python, "another");
  EXPECT_FALSE(cache(key).read(kWhen));
}

TEST_F(CostCacheTest, WhatIsOldOrFromTheFutureDoesNotCount) {
  cache(key_).write(found());
  EXPECT_TRUE(cache(key_).read(kWhen + CostCache::kOldest));
  EXPECT_FALSE(cache(key_).read(kWhen + CostCache::kOldest + 1s));
  EXPECT_FALSE(cache(key_).read(kWhen - 1s));
}

TEST_F(CostCacheTest, WhatIsDamagedIsNotThere) {
  cache(key_).write(found());
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "deep" / "sonde"))
    file = entry.path();
  const std::string whole = "{\"costs\": [{\"probe\": 3}], \"measured\": 1800000000}";
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"), whole}) {
    test::writeText(file, text);
    EXPECT_FALSE(cache(key_).read(kWhen)) << text;
  }
}

TEST_F(CostCacheTest, WithoutAPlaceNothingIsKept) {
  const CostCache nowhere({}, key_);
  nowhere.write(found());
  EXPECT_FALSE(nowhere.read(kWhen));
}

TEST(CostCacheFolder, IsWhereTheUserHasCaches) {
  EXPECT_EQ(costCacheFolder({"HOME=/h", "XDG_CACHE_HOME=/c"}), "/c/sonde");
  EXPECT_EQ(costCacheFolder({"HOME=/h", "XDG_CACHE_HOME=c"}), "/h/.cache/sonde");
  EXPECT_EQ(costCacheFolder({"HOME=/h"}), "/h/.cache/sonde");
  EXPECT_EQ(costCacheFolder({"HOME="}), "");
  EXPECT_EQ(costCacheFolder({}), "");
}

}  // namespace
}  // namespace sonde::recorder
