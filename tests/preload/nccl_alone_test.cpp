// libnccl-profiler-sonde.so, NCCL's plugin as a separate library, with the stand-in for NCCL.
#include "tests/support/spool_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sonde::test {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kPlugin = SONDE_NCCL_PLUGIN;

class NcclPluginAlone : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<RecordedProcess> run(std::vector<std::string> settings) {
    const TemporaryFolder folder;
    const std::string file = folder / "nccl-id";
    settings.insert(settings.end(),
                    {"WORLD_SIZE=2", "RANK=0", std::string("NCCLSIM_PLUGIN=") + GetParam()});
    const Finished finished = recording_.run({SONDE_TARGETS "/nccl_job", file, "each"}, settings);
    EXPECT_EQ(finished.status, 0) << finished.err;
    std::vector<RecordedProcess> processes = recording_.read();
    std::erase_if(processes, [](const RecordedProcess& each) { return each.collectives.empty(); });
    return processes;  // without env's
  }

  void expectCalls(const std::vector<RecordedProcess>& processes) {
    ASSERT_THAT(processes, SizeIs(1));
    const bool untoldBroadcasts = GetParam() == std::string("6");
    EXPECT_THAT(processes[0].collectives, SizeIs(untoldBroadcasts ? 4 : 6));
    EXPECT_THAT(processes[0].collectives,
                Each(Field(&RecordedCollective::algorithm, std::string("RING"))));
    EXPECT_THAT(processes[0].collectives,
                Each(Field(&RecordedCollective::key, StartsWith("nccl:"))));
  }

  SpoolRecording recording_;
};

TEST_P(NcclPluginAlone, LoadsTheRecorderThatLiesBesideIt) {
  expectCalls(run({"LD_PRELOAD=", "NCCL_PROFILER_PLUGIN=" + kPlugin}));
}

TEST_P(NcclPluginAlone, IsFoundByItsName) {
  const std::string folder = std::filesystem::path(kPlugin).parent_path();
  expectCalls(run({"LD_PRELOAD=", "LD_LIBRARY_PATH=" + folder, "NCCL_PROFILER_PLUGIN=sonde"}));
}

TEST_P(NcclPluginAlone, HandsOnToTheRecorderThatIsThere) {
  expectCalls(run({"NCCL_PROFILER_PLUGIN=" + kPlugin}));
}

TEST_P(NcclPluginAlone, RecordsNothingWithoutASession) {
  EXPECT_THAT(run({"LD_PRELOAD=", "SONDE_SESSION=", "NCCL_PROFILER_PLUGIN=" + kPlugin}), IsEmpty());
}

// A copy of the plugin elsewhere has no recorder in its folder.
TEST_P(NcclPluginAlone, AsksForNothingWithoutARecorder) {
  const std::filesystem::path copy = testing::TempDir() + std::to_string(getpid()) + "-sonde.so";
  std::filesystem::copy_file(kPlugin, copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(run({"LD_PRELOAD=", "NCCL_PROFILER_PLUGIN=" + copy.string()}), IsEmpty());
  std::filesystem::remove(copy);
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclPluginAlone, ::testing::Values("1", "3", "4", "6"));

}  // namespace
}  // namespace sonde::test
