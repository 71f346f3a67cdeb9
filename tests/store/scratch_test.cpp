#include "analysis/store/scratch.h"

#include "tests/store/temporary_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

class ScratchTest : public TemporaryFolder {
 protected:
  void SetUp() override { std::ofstream(unfinished_) << "half of it"; }

  const fs::path unfinished_ = file("trace.part");
  const fs::path finished_ = file("trace");
};

TEST_F(ScratchTest, ASignalThatEndsTheProgramRemovesWhatIsUnfinished) {
  EXPECT_EXIT(
      {
        const Scratch scratch({unfinished_.string()});
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM),
      "");
  EXPECT_FALSE(fs::exists(unfinished_));
}

TEST_F(ScratchTest, WhatIsFinishedStays) {
  EXPECT_EXIT(
      {
        { const Scratch scratch({unfinished_.string()}); }
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM),
      "");
  EXPECT_TRUE(fs::exists(unfinished_));
}

TEST_F(ScratchTest, ASignalWaitsUntilWhatIsHeldHasHappened) {
  EXPECT_EXIT(
      {
        const Scratch scratch({unfinished_.string()});
        {
          const EndingHeld whole;
          std::raise(SIGINT);
          fs::rename(unfinished_, finished_);
        }
        _exit(0);
      },
      testing::KilledBySignal(SIGINT),
      "");
  EXPECT_TRUE(fs::exists(finished_));
}

TEST_F(ScratchTest, WithoutASignalItGoesOn) {
  EXPECT_EXIT(
      {
        const Scratch scratch({unfinished_.string()});
        { const EndingHeld whole; }
        _exit(fs::exists(unfinished_) ? 3 : 4);
      },
      testing::ExitedWithCode(3),
      "");
}

}  // namespace
}  // namespace sonde::store
