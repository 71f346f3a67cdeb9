// What the recorder makes of what libsonde_nccl.so tells it of odd programs.
#include "tests/support/spool_recording.h"

#include <gtest/gtest.h>

namespace sonde::test {
namespace {

RecordedProcess recordingOf(const char* name) {
  SpoolRecording recording;
  const Finished finished = recording.run({SONDE_TARGETS "/nccl_hooks", name});
  EXPECT_EQ(finished.status, 0) << finished.err;
  return recording.read().at(0);
}

TEST(NcclHooks, AThreadThatEndsInAGroupLeavesNoCommunicatorToTheNext) {
  EXPECT_EQ(recordingOf("threadends").lost(wire::Probe::Nccl), 0u);
}

TEST(NcclHooks, ADriverThatIsLoadedLateIsAskedWhatIsCaptured) {
  EXPECT_EQ(recordingOf("driver").collectives.size(), 1u);
}

}  // namespace
}  // namespace sonde::test
