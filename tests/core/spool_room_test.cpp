// The library when its file may not grow, or when new parts of the file cannot be written.
#include "collector/core/attach.h"
#include "collector/core/emit.h"
#include "collector/core/spool.h"
#include "tests/core/spool_dump.h"
#include "tests/support/in_child.h"
#include "tests/support/spool_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>

namespace sonde::core {
namespace {

using testing::IsEmpty;
using wire::Probe;

constexpr std::uint64_t kLittle = 1 << 20;

// Emits until there is no room; returns the number of written records.
std::uint32_t fill(std::uint32_t name) {
  std::uint32_t written = 0;
  while (emitMark(name, Probe::Annotation))
    ++written;
  return written;
}

wire::SlotHeader* slotAt(std::uint32_t index) {
  return reinterpret_cast<wire::SlotHeader*>(gSpool.base + std::size_t{index} * wire::kSlotBytes);
}

std::uint32_t aFullSlot() {
  std::uint32_t slot = 1;
  while (gSpool.slots->state[slot].load() != wire::SlotState::Full)
    ++slot;
  return slot;
}

TEST(SpoolRoom, AFullSpoolIsNotLookedThroughForEachRecord) {
  record(
      [] {
        const std::uint32_t name = intern("value");
        EXPECT_EQ(gSpool.fullUntilTicks.load(), 0U);
        const std::uint64_t before = ticks();
        fill(name);
        EXPECT_GT(gSpool.fullUntilTicks.load(), before);
        gSpool.fullUntilTicks.store(std::numeric_limits<std::uint64_t>::max());
        releaseSlot(gSpool, slotAt(aFullSlot()), wire::SlotState::Free);
        EXPECT_FALSE(emitMark(name, Probe::Annotation)) << "not looked for";
      },
      kLittle);
}

TEST(SpoolRoom, ASlotThatIsGivenBackIsUsedAgain) {
  record(
      [] {
        const std::uint32_t name = intern("value");
        fill(name);
        releaseSlot(gSpool, slotAt(aFullSlot()), wire::SlotState::Free);
        while (!emitMark(name, Probe::Annotation)) {
        }
        EXPECT_GT(fill(name), 0U);
      },
      kLittle);
}

// Forks `count` children one after the other; each writes one record.
void forkSilentChildren(int count) {
  for (int child = 0; child < count; ++child) {
    if (::fork() == 0) {
      emitMark(intern("a child"), Probe::Annotation);
      ::_exit(0);
    }
    ::wait(nullptr);
  }
}

TEST(SpoolRoom, SilentChildrenLeaveABusyParentItsRoom) {
  constexpr int kChildren = 40;
  constexpr int kScopes = 200'000;
  const auto dumps = record(
      [] {
        forkSilentChildren(kChildren);
        const std::uint32_t name = intern("step");
        for (int scope = 0; scope < kScopes; ++scope)
          endScope(beginScope(wire::SliceKind::Operation, name, Probe::Annotation));
        EXPECT_EQ(gSpool.session->refusedImages.load(), 0U);
      },
      32 << 20);
  ASSERT_EQ(dumps.size(), 1U + kChildren);
  EXPECT_EQ(dumps[0].story().size(), 2U * kScopes);
  for (const SpoolDump& dump : dumps)
    EXPECT_EQ(dump.lost(wire::LossReason::SpoolFull), 0U);
}

TEST(SpoolRoom, NewImagesAreRefusedBeforeOneThatIsThereCannotGrow) {
  constexpr std::uint64_t kLimit = 4 << 20;
  constexpr std::uint64_t kReserve = kLimit / kGrowthShare;
  record(
      [] {
        const std::uint32_t name = intern("value");
        forkSilentChildren(kLimit / kFirstChunkBytes);
        EXPECT_EQ(gSpool.session->refusedImages.load(), 1 + kReserve / kFirstChunkBytes);
        EXPECT_EQ(gSpool.session->allocatedBytes.load(), kLimit - kReserve);
        fill(name);
        EXPECT_GT(gSpool.session->allocatedBytes.load(), kLimit - kReserve);
      },
      kLimit);
}

// As after a change of user or of the root folder: the mapping stays, but the files cannot be
// reached.
TEST(SpoolRoom, ASpoolThatCannotBeOpenedAnyMoreIsNotCalledFull) {
  const auto dumps = record(
      [] {
        const std::uint32_t name = intern("value");
        const std::filesystem::path folder = std::filesystem::path(gSpool.path).parent_path();
        const std::filesystem::path away = folder.string() + ".away";
        EXPECT_TRUE(mayReach(folder.c_str()));
        std::filesystem::rename(folder, away);
        EXPECT_FALSE(mayReach(folder.c_str()));
        fill(name);
        forkSilentChildren(1);
        std::filesystem::rename(away, folder);
        EXPECT_EQ(gSpool.session->unreachableImages.load(), 1U);
        EXPECT_EQ(gSpool.session->refusedImages.load(), 0U);
      },
      kRoom);
  ASSERT_EQ(dumps.size(), 1U);
  EXPECT_EQ(dumps[0].lost(wire::LossReason::Unreachable), 1U);
  EXPECT_EQ(dumps[0].lost(wire::LossReason::SpoolFull), 0U);
}

// From now on fallocate(2) does nothing but reports success. False if that is not possible.
bool pretendToAllocate() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof rules / sizeof *rules, rules};
  constexpr int kPopulateWrite = 23;
  return ::madvise(nullptr, 0, kPopulateWrite) == 0 &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class NoBlocks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::inChild([] { EXPECT_TRUE(pretendToAllocate()); }))
      GTEST_SKIP() << "no system call filters, or no MADV_POPULATE_WRITE, here";
  }
  test::SpoolFolder folder_{kRoom};
};

TEST_F(NoBlocks, ASpoolWhoseFirstPagesCannotBeWrittenIsNotBegun) {
  EXPECT_TRUE(test::inChild([&] {
    ASSERT_TRUE(pretendToAllocate());
    EXPECT_FALSE(attach(folder_.path().c_str(), nullptr));
    EXPECT_EQ(gSpool.session->allocatedBytes.load(), 0U);
  }));
  EXPECT_THAT(folder_.files(), IsEmpty());
}

TEST_F(NoBlocks, AChunkWhosePagesCannotBeWrittenIsGivenUp) {
  EXPECT_TRUE(test::inChild([&] {
    ASSERT_TRUE(attach(folder_.path().c_str(), nullptr));
    ASSERT_TRUE(pretendToAllocate());
    EXPECT_GT(fill(intern("value")), 0U);
    EXPECT_EQ(gSpool.session->allocatedBytes.load(), kFirstChunkBytes);
  }));
  EXPECT_GT(dumpSpool(folder_.files().at(0)).lost(wire::LossReason::SpoolFull), 0U);
}

}  // namespace
}  // namespace sonde::core
