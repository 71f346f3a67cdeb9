#include "analysis/engine/network/communicators.h"

#include <gmock/gmock.h>

namespace sonde::engine::network {
namespace {

using device::JoinedCollective;
using ::testing::SizeIs;

JoinedCollective collective(const char* group,
                            const char* op,
                            std::int64_t beginNs,
                            std::int64_t ns) {
  JoinedCollective made;
  made.group = group;
  made.op = op;
  made.size = 2;
  made.bytes = 1000;
  for (std::int64_t rank = 0; rank < 2; ++rank)
    made.arrivals.push_back({.processId = rank + 1,
                             .rank = rank,
                             .beginNs = beginNs,
                             .endNs = beginNs + ns,
                             .transferNs = ns});
  return made;
}

TEST(Communicators, HaveTheirOwnRowsAndSharesOfAll) {
  const auto rows = communicatorRows({collective("a", "allreduce", 0, 100),
                                      collective("b", "allreduce", 50, 200),
                                      collective("a", "allreduce", 300, 300),
                                      collective("a", "send", 700, 900)});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].group, "a");
  EXPECT_EQ(rows[0].collectives, 2);
  EXPECT_EQ(rows[0].row.ns.total, 800);
  EXPECT_DOUBLE_EQ(rows[0].row.share, 800.0 / 1200);
  EXPECT_EQ(rows[0].longest, (metrics::Interval{300, 600}));
  EXPECT_EQ(rows[1].group, "b");
  EXPECT_DOUBLE_EQ(rows[1].row.share, 400.0 / 1200);
}

}  // namespace
}  // namespace sonde::engine::network
