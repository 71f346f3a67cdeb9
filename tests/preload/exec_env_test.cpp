// How a new program's environment is built.
#include "collector/preload/process/exec_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sonde::preload {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr const char* kLibrary = "/opt/lib/sonde/libsonde_preload.so";
constexpr const char* kNccl = "/opt/lib/sonde/libsonde_nccl.so";
constexpr const char* kMpi = "/opt/lib/sonde/libsonde_mpi.so";
constexpr const char* kSync = "/opt/lib/sonde/libsonde_sync.so";
constexpr const char* kPlugins =
    "/opt/lib/sonde/libsonde_plugin.so:/home/me/libone.so:/home/me/libtwo.so";
constexpr const char* kPython = "/opt/lib/sonde/python";

constexpr Preload kNothing{false, core::kAllCompanions};
constexpr Preload kRecorder{true, 0};
constexpr Preload kWithNccl{true, core::companionBit(0)};
constexpr Preload kWithAll{true, core::kAllCompanions};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words)
    list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

class ExecEnvironment : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static std::vector<std::string> own = {
        "HOME=/root",
        std::string("LD_PRELOAD=") + kLibrary + ":/usr/lib/other.so",
        "SONDE_SESSION=/tmp/s",
        "SONDE_SOURCES=net,nvtx",
        std::string("SONDE_NCCL_LIBRARY=") + kNccl,
        std::string("SONDE_MPI_LIBRARY=") + kMpi,
        std::string("NVTX_INJECTION64_PATH=") + kLibrary,
        std::string("CUDA_INJECTION64_PATH=") + kLibrary,
        "NCCL_PROFILER_PLUGIN=STATIC_PLUGIN",
        std::string("PYTHONPATH=") + kPython + ":/home/me"};
    std::vector<char*> environment = pointers(own);
    rememberEnvironment(environment.data(), kLibrary);
  }

  // Also checks environmentBytes(): the room ends in bytes that must stay unchanged.
  static std::vector<std::string> build(std::vector<std::string> caller,
                                        Preload preload = kRecorder) {
    std::vector<char*> environment = pointers(caller);
    const std::size_t bytes = environmentBytes(environment.data());
    std::vector<std::max_align_t> room(bytes / sizeof(std::max_align_t) + 3);
    auto* raw = reinterpret_cast<char*>(room.data());
    std::fill(raw + bytes, raw + bytes + 16, '\x5a');
    std::vector<std::string> made;
    for (char** entry = buildEnvironment(environment.data(), preload, raw); *entry != nullptr;
         ++entry)
      made.emplace_back(*entry);
    EXPECT_TRUE(std::all_of(raw + bytes, raw + bytes + 16, [](char c) { return c == '\x5a'; }));
    return made;
  }
};

TEST_F(ExecEnvironment, AnEmptyOneGetsAllThatTheRecorderGave) {
  EXPECT_THAT(build({}),
              UnorderedElementsAre(std::string("LD_PRELOAD=") + kLibrary,
                                   "SONDE_SESSION=/tmp/s",
                                   "SONDE_SOURCES=net,nvtx",
                                   std::string("SONDE_NCCL_LIBRARY=") + kNccl,
                                   std::string("SONDE_MPI_LIBRARY=") + kMpi,
                                   std::string("NVTX_INJECTION64_PATH=") + kLibrary,
                                   std::string("CUDA_INJECTION64_PATH=") + kLibrary,
                                   "NCCL_PROFILER_PLUGIN=STATIC_PLUGIN",
                                   std::string("PYTHONPATH=") + kPython));
}

TEST_F(ExecEnvironment, ACompleteOneStaysAsItIs) {
  const std::vector<std::string> complete = {"A=1",
                                             std::string("LD_PRELOAD=/x.so ") + kLibrary,
                                             "SONDE_SESSION=/tmp/another",
                                             "SONDE_SOURCES=nvtx",
                                             "SONDE_NCCL_LIBRARY=/another.so",
                                             "SONDE_MPI_LIBRARY=/another.so",
                                             std::string("PYTHONPATH=/a:") + kPython,
                                             "NCCL_PROFILER_PLUGIN=STATIC_PLUGIN",
                                             std::string("NVTX_INJECTION64_PATH=") + kLibrary,
                                             std::string("CUDA_INJECTION64_PATH=") + kLibrary};
  std::vector<std::string> copy = complete;
  EXPECT_TRUE(isComplete(pointers(copy).data(), kRecorder));
  EXPECT_EQ(build(complete), complete);
}

TEST_F(ExecEnvironment, TheUsersOwnValuesStandBehind) {
  EXPECT_THAT(build({"LD_PRELOAD=/x.so",
                     "PYTHONPATH=/a:/b",
                     "NVTX_INJECTION64_PATH=/tool.so",
                     "CUDA_INJECTION64_PATH=/cuda.so",
                     "NCCL_PROFILER_PLUGIN=inspector",
                     "SONDE_SESSION=/o",
                     "SONDE_NCCL_LIBRARY=",
                     "SONDE_MPI_LIBRARY=",
                     "SONDE_SOURCES="}),
              ElementsAre(std::string("LD_PRELOAD=") + kLibrary + ":/x.so",
                          std::string("PYTHONPATH=") + kPython + ":/a:/b",
                          std::string("NVTX_INJECTION64_PATH=") + kLibrary,
                          "SONDE_CHAIN_NVTX=/tool.so",
                          std::string("CUDA_INJECTION64_PATH=") + kLibrary,
                          "SONDE_CHAIN_CUDA=/cuda.so",
                          "NCCL_PROFILER_PLUGIN=inspector",
                          "SONDE_SESSION=/o",
                          "SONDE_NCCL_LIBRARY=",
                          "SONDE_MPI_LIBRARY=",
                          "SONDE_SOURCES="));
}

TEST_F(ExecEnvironment, IsTakenOutOfWhatWouldNotBearIt) {
  EXPECT_THAT(build({std::string("LD_PRELOAD=") + kLibrary}, kNothing),
              ::testing::Not(::testing::Contains(::testing::StartsWith("LD_PRELOAD"))));
  EXPECT_THAT(build({std::string("LD_PRELOAD=/x.so:") + kLibrary + " /y.so"}, kNothing),
              ::testing::Contains("LD_PRELOAD=/x.so:/y.so"));
  EXPECT_THAT(build({"LD_PRELOAD=/x.so"}, kNothing), ::testing::Contains("LD_PRELOAD=/x.so"));
}

TEST_F(ExecEnvironment, TheLibraryBeforeNcclGoesOnlyWhereNcclIsCalled) {
  const std::string recorder = std::string("LD_PRELOAD=") + kLibrary;
  const std::string both = recorder + ":" + kNccl;
  using ::testing::Contains;
  EXPECT_THAT(build({"LD_PRELOAD=/x.so"}, kWithNccl), Contains(both + ":/x.so"));
  EXPECT_THAT(build({recorder + ":/x.so"}, kWithNccl), Contains(both + ":/x.so"));
  EXPECT_THAT(build({both + ":/x.so"}, kRecorder), Contains(recorder + ":/x.so"));
  EXPECT_THAT(build({both + ":/x.so"}, kWithAll), Contains(both + ":" + kMpi + ":/x.so"));
  EXPECT_THAT(build({both + ":/x.so"}, kNothing), Contains("LD_PRELOAD=/x.so"));
  std::vector<std::string> complete = build({}, kWithNccl);
  EXPECT_TRUE(isComplete(pointers(complete).data(), kWithNccl));
  EXPECT_FALSE(isComplete(pointers(complete).data(), kRecorder));
  EXPECT_FALSE(isComplete(pointers(complete).data(), kNothing));
}

TEST_F(ExecEnvironment, TheLibraryBeforeLocksGoesAlongWhereItIsAskedFor) {
  using ::testing::Contains;
  const Preload everywhere{true, core::companionBit(3)};
  const std::string recorder = std::string("LD_PRELOAD=") + kLibrary + ":" + kSync;
  std::vector<std::string> asked = {"SONDE_SESSION=/tmp/s",
                                    std::string("SONDE_SYNC_LIBRARY=") + kSync};
  rememberEnvironment(pointers(asked).data(), kLibrary);
  EXPECT_THAT(build({"LD_PRELOAD=/x.so"}, everywhere), Contains(recorder + ":/x.so"));
  EXPECT_THAT(build({recorder + ":/x.so"}, kNothing), Contains("LD_PRELOAD=/x.so"));
  std::vector<std::string> complete = build({}, everywhere);
  EXPECT_THAT(complete, Contains(asked.back()));
  EXPECT_TRUE(isComplete(pointers(complete).data(), everywhere));
  asked.back() = "SONDE_SYNC_LIBRARY=";
  rememberEnvironment(pointers(asked).data(), kLibrary);
}

TEST_F(ExecEnvironment, PluginsGoAlongAndGoAgain) {
  using ::testing::Contains;
  using ::testing::Not;
  using ::testing::StartsWith;
  const Preload everywhere{true, core::companionBit(4)};
  const std::string recorder = std::string("LD_PRELOAD=") + kLibrary + ":" + kPlugins;
  std::vector<std::string> asked = {"SONDE_SESSION=/tmp/s",
                                    recorder + ":/x.so",
                                    std::string("SONDE_PLUGIN_LIBRARIES=") + kPlugins};
  rememberEnvironment(pointers(asked).data(), kLibrary);
  EXPECT_EQ(ownPreload().companions, core::companionBit(4));
  EXPECT_THAT(build({"LD_PRELOAD=/x.so"}, everywhere), Contains(recorder + ":/x.so"));
  EXPECT_THAT(build({recorder + ":/x.so"}, everywhere), Contains(recorder + ":/x.so"));
  EXPECT_THAT(build({}, everywhere), Contains(asked.back()));
  EXPECT_THAT(build({recorder + ":/x.so"}, kNothing), Contains("LD_PRELOAD=/x.so"));
  EXPECT_THAT(build({recorder}, kNothing), Not(Contains(StartsWith("LD_PRELOAD="))));
  asked.back() = "SONDE_PLUGIN_LIBRARIES=";
  rememberEnvironment(pointers(asked).data(), kLibrary);
}

TEST_F(ExecEnvironment, AVariableGivenTwiceIsNoTrap) {
  const std::string tall(5000, 'p');
  EXPECT_EQ(build({"LD_PRELOAD=/x",
                   "LD_PRELOAD=/" + tall,
                   "PYTHONPATH=",
                   "PYTHONPATH=/" + tall,
                   "odd",
                   "=",
                   ""})
                .size(),
            14U);
}

}  // namespace
}  // namespace sonde::preload
