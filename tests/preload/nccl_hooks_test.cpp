// The recorder's handling of libsonde_nccl.so's reports about unusual programs.
#include "tests/support/spool_recording.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::test {
namespace {

RecordedProcess recordingOf(const char* name, std::string* said = nullptr) {
  SpoolRecording recording;
  const Finished finished = recording.run({SONDE_TARGETS "/nccl_hooks", name});
  EXPECT_EQ(finished.status, 0) << finished.err;
  if (said != nullptr)
    *said = finished.out;
  return recording.read().at(0);
}

TEST(NcclHooks, AThreadThatEndsInAGroupLeavesNoCommunicatorToTheNext) {
  EXPECT_EQ(recordingOf("threadends").lost(wire::Probe::Nccl), 0u);
}

TEST(NcclHooks, ADriverThatIsLoadedLateIsAskedWhatIsCaptured) {
  EXPECT_EQ(recordingOf("driver").collectives.size(), 1u);
}

// NCCL is not asked about a possibly invalid communicator, nor about one that is being destroyed,
// before and after.
TEST(NcclHooks, NcclIsAskedAboutACommunicatorOfWhichACallHasSucceededAndThatStays) {
  std::string said;
  recordingOf("asks", &said);
  EXPECT_EQ(said, "0 0 1 2 2\n");
}

TEST(NcclHooks, ACallWhoseCommunicatorGoesAsItBeginsIsCounted) {
  const RecordedProcess process = recordingOf("goes");
  EXPECT_TRUE(process.collectives.empty());
  EXPECT_EQ(process.lost(wire::Probe::Nccl), 1u);
}

TEST(NcclHooks, WhatAThreadWithoutRoomDoesIsCounted) {
  const RecordedProcess process = recordingOf("threads");
  EXPECT_EQ(process.lost(wire::Probe::Nccl), 4u);
}

}  // namespace
}  // namespace sonde::test
