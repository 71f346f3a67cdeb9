// The hash of a communicator equals NCCL's: the values are from src/include/bitops.h of NCCL
// 2.28.9.
#include "collector/preload/nccl/nccl_hash.h"

#include <gtest/gtest.h>

namespace sonde::preload::nccl {
namespace {

TEST(NcclHash, OfAnIdentifier) {
  char id[128];
  for (int at = 0; at < 128; ++at)
    id[at] = static_cast<char>(at * 7 + 1);
  EXPECT_EQ(hashOfIdentifier(id, sizeof id), 0x90e3297ca6f903d2);
}

TEST(NcclHash, OfASplit) {
  EXPECT_EQ(hashOfChild(0x0123'4567'89ab'cdef, 2, -5), 0x12e47baf67679a3f);
}

}  // namespace
}  // namespace sonde::preload::nccl
