// sonde.h in the ways that programs are built with it, recorded and unrecorded.
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::string target(const std::string& name) {
  return SONDE_TARGETS "/" + name;
}

std::vector<std::string> names(const std::vector<RecordedSlice>& slices) {
  std::vector<std::string> all;
  std::transform(slices.begin(), slices.end(), std::back_inserter(all), [](const auto& slice) {
    return slice.name;
  });
  return all;
}

TEST(Annotation, SeveralSourcesOfAProgramRecord) {
  SpoolRecording recording;
  const Finished done = recording.run({target("annotated_units")});
  EXPECT_EQ(done.status, 0);
  const std::vector<RecordedProcess> processes = recording.read();
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_THAT(names(processes[0].slices), UnorderedElementsAre("in C", "in C++"));
  EXPECT_THAT(names(processes[0].marks), ElementsAre("before main"));
}

TEST(Annotation, LeavesNothingForDlerror) {
  SpoolRecording recording;
  for (const std::string program : {"annotated_units", "annotated_units_static"}) {
    EXPECT_EQ(runProgram({target(program)}).out, "no error\n");
    EXPECT_EQ(recording.run({target(program)}).out, "no error\n");
  }
}

TEST(Annotation, AThreadThatALoadingLibraryWaitsForRecords) {
  const std::vector<std::string> words = {target("load_library"),
                                          target("libannotated_at_load.so")};
  EXPECT_EQ(runProgram(words).status, 0);
  SpoolRecording recording;
  EXPECT_EQ(recording.run(words).status, 0);
  const std::vector<RecordedProcess> processes = recording.read();
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_THAT(names(processes[0].slices), ElementsAre("while loading"));
}

}  // namespace
}  // namespace sonde::test
