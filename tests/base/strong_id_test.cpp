#include "base/strong_id.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace sonde {
namespace {

using HostId = StrongId<struct HostTag>;
using ThreadId = StrongId<struct ThreadTag>;

static_assert(!std::is_convertible_v<HostId, ThreadId>);
static_assert(!std::is_convertible_v<HostId, bool>);
static_assert(!std::is_constructible_v<HostId, ThreadId>);

TEST(StrongId, ZeroIsNone) {
  EXPECT_FALSE(HostId{});
  EXPECT_TRUE(HostId{7});
}

TEST(StrongId, ComparesAndHashes) {
  EXPECT_EQ(HostId{7}, HostId{7});
  EXPECT_LT(HostId{6}, HostId{7});
  const std::unordered_set<HostId> ids{{1}, {2}, {1}};
  EXPECT_EQ(ids.size(), 2U);
}

}  // namespace
}  // namespace sonde
