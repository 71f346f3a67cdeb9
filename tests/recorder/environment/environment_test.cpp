#include "recorder/environment/environment.h"

#include "recorder/environment/job_identity.h"
#include "recorder/environment/library_search.h"
#include "recorder/options/sources.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace sonde::recorder {
namespace {

const Installation kInstalled{"/s/lib/sonde/libsonde_preload.so", "/s/lib/sonde/python"};
const std::string kNccl = "/s/lib/sonde/libsonde_nccl.so";

std::string value(const std::vector<std::string>& environment, const std::string& name) {
  EXPECT_LE(std::count_if(environment.begin(),
                          environment.end(),
                          [&](const std::string& entry) { return entry.starts_with(name + "="); }),
            1)
      << name << " stands there twice";
  return findVariable(environment, name).value_or("(unset)");
}

TEST(Environment, BringsTheLibraryIntoAPlainProgram) {
  const auto environment = injectedEnvironment({"HOME=/root"}, kInstalled, {"/tmp/spool", {}});
  EXPECT_EQ(value(environment, "HOME"), "/root");
  EXPECT_EQ(value(environment, "LD_PRELOAD"), kInstalled.preload);
  EXPECT_EQ(value(environment, "NVTX_INJECTION64_PATH"), kInstalled.preload);
  EXPECT_EQ(value(environment, "CUDA_INJECTION64_PATH"), kInstalled.preload);
  EXPECT_EQ(value(environment, "NCCL_PROFILER_PLUGIN"), "STATIC_PLUGIN");
  EXPECT_EQ(value(environment, "PYTHONPATH"), kInstalled.pythonFolder);
  EXPECT_EQ(value(environment, "SONDE_SESSION"), "/tmp/spool");
  EXPECT_EQ(value(environment, "SONDE_SOURCES"), "(unset)");
  EXPECT_EQ(value(environment, "SONDE_CHAIN_NVTX"), "(unset)");
}

TEST(Environment, KeepsWhatTheUserHadBehindItsOwn) {
  const auto environment = injectedEnvironment({"LD_PRELOAD=/j/libjemalloc.so",
                                                "PYTHONPATH=/a:/b",
                                                "NVTX_INJECTION64_PATH=/n/other.so",
                                                "CUDA_INJECTION64_PATH=/c/other.so",
                                                "NCCL_PROFILER_PLUGIN=inspector",
                                                "SONDE_SOURCES=io",
                                                "SONDE_SESSION=/old"},
                                               kInstalled,
                                               {"/tmp/spool", "net,annotation"});
  EXPECT_EQ(value(environment, "LD_PRELOAD"), kInstalled.preload.string() + ":/j/libjemalloc.so");
  EXPECT_EQ(value(environment, "PYTHONPATH"), kInstalled.pythonFolder.string() + ":/a:/b");
  EXPECT_EQ(value(environment, "SONDE_CHAIN_NVTX"), "/n/other.so");
  EXPECT_EQ(value(environment, "SONDE_CHAIN_CUDA"), "/c/other.so");
  EXPECT_EQ(value(environment, "NCCL_PROFILER_PLUGIN"), "inspector");
  EXPECT_EQ(value(environment, "SONDE_SOURCES"), "net,annotation");
  EXPECT_EQ(value(environment, "SONDE_SESSION"), "/tmp/spool");
}

TEST(Environment, BringsTheLibraryBeforeNcclIntoAProgramThatMayCallIt) {
  InjectionRequest request{"/tmp/spool", {}};
  request.companions = core::companionBit(0);
  const std::vector<std::string> base = {"LD_PRELOAD=/j.so", "SONDE_NCCL_LIBRARY=/old"};
  auto environment = injectedEnvironment(base, kInstalled, request);
  EXPECT_EQ(value(environment, "LD_PRELOAD"), kInstalled.preload.string() + ":/j.so");
  EXPECT_EQ(value(environment, "SONDE_NCCL_LIBRARY"), kNccl);
  request.called = core::kAllCompanions;
  environment = injectedEnvironment(base, kInstalled, request);
  EXPECT_EQ(value(environment, "LD_PRELOAD"), kInstalled.preload.string() + ":" + kNccl + ":/j.so");
  request.companions = 0;
  environment = injectedEnvironment(base, kInstalled, request);
  EXPECT_EQ(value(environment, "LD_PRELOAD"), kInstalled.preload.string() + ":/j.so");
  EXPECT_EQ(value(environment, "SONDE_NCCL_LIBRARY"), "(unset)");
}

TEST(Environment, BringsTheLibraryBeforeLocksWhereWhoWakesWhomIsAskedFor) {
  InjectionRequest request{"/tmp/spool", {}};
  EXPECT_EQ(value(injectedEnvironment({"SONDE_SYNC_LIBRARY=/old"}, kInstalled, request),
                  "SONDE_SYNC_LIBRARY"),
            "(unset)");
  request.companions = companionsOf(1U << static_cast<unsigned>(wire::Probe::Sync) |
                                    1U << static_cast<unsigned>(wire::Probe::Nccl));
  request.called = core::kAllCompanions;
  const auto environment = injectedEnvironment({}, kInstalled, request);
  EXPECT_EQ(value(environment, "SONDE_SYNC_LIBRARY"), "/s/lib/sonde/libsonde_sync.so");
  EXPECT_EQ(value(environment, "LD_PRELOAD"),
            kInstalled.preload.string() + ":" + kNccl + ":/s/lib/sonde/libsonde_sync.so");
}

std::string otherPlugin(const std::string& named) {
  return otherNcclPlugin({"NCCL_PROFILER_PLUGIN=" + named});
}

TEST(Environment, PluginsGoBehindTheirCompanion) {
  InjectionRequest request{"/tmp/spool", {}};
  request.companions = companionsOf(1U << static_cast<unsigned>(wire::Probe::Plugin));
  request.called = core::kAllCompanions;
  request.plugins = {"/home/me/libone.so", "/home/me/libtwo.so"};
  const auto environment = injectedEnvironment({"LD_PRELOAD=/x.so"}, kInstalled, request);
  const std::string libraries =
      "/s/lib/sonde/libsonde_plugin.so:/home/me/libone.so:/home/me/libtwo.so";
  EXPECT_EQ(value(environment, "SONDE_PLUGIN_LIBRARIES"), libraries);
  EXPECT_EQ(value(environment, "LD_PRELOAD"),
            kInstalled.preload.string() + ":" + libraries + ":/x.so");
  request.companions = 0;
  EXPECT_EQ(value(injectedEnvironment(environment, kInstalled, request), "SONDE_PLUGIN_LIBRARIES"),
            "(unset)");
}

TEST(Environment, TellsAPluginOfTheUsersFromItsOwn) {
  EXPECT_EQ(otherNcclPlugin({}), "");
  EXPECT_EQ(otherPlugin(""), "");
  EXPECT_EQ(otherPlugin("STATIC_PLUGIN"), "");
  EXPECT_EQ(otherPlugin("sonde"), "");
  EXPECT_EQ(otherPlugin("/opt/libnccl-profiler-sonde.so"), "");
  EXPECT_EQ(otherPlugin("none"), "none");
  EXPECT_EQ(otherPlugin("/opt/libnccl-profiler-inspector.so"),
            "/opt/libnccl-profiler-inspector.so");
}

// NCCL would find it without a variable.
TEST(Environment, APluginOfNcclsDefaultNameKeepsItsPlace) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "nccl-plugin";
  std::filesystem::create_directories(folder);
  const std::string plugin = folder / "libnccl-profiler.so";
  std::ofstream(plugin) << "x";
  const std::string path = "LD_LIBRARY_PATH=/nowhere:" + folder.string();
  EXPECT_EQ(otherNcclPlugin({path}), plugin);
  EXPECT_EQ(otherNcclPlugin({path, "NCCL_PROFILER_PLUGIN=STATIC_PLUGIN"}), "");
  const auto environment = injectedEnvironment({path}, kInstalled, {"/tmp/spool", {}});
  EXPECT_EQ(value(environment, "NCCL_PROFILER_PLUGIN"), "(unset)");
  std::filesystem::remove_all(folder);
}

TEST(LibrarySearch, ReadsTheLoadersCache) {
  const std::string cache = testing::TempDir() + "ld.so.cache";
  std::string bytes = "glibc-ld.so.cache1.1";
  for (const char* text : {"\1\2", "libz.so", "/a/libz.so", "libx.so", "/b c/libx.so"})
    bytes.append(1, '\0').append(text);
  bytes.append(1, '\0');
  std::ofstream(cache, std::ios::binary) << bytes;
  EXPECT_EQ(findInLoaderCache("libx.so", cache), "/b c/libx.so");
  EXPECT_EQ(findInLoaderCache("libz.so", cache), "/a/libz.so");
  EXPECT_EQ(findInLoaderCache("ibz.so", cache), "");
  EXPECT_EQ(findInLoaderCache("libx.so", cache + ".not"), "");
  std::filesystem::remove(cache);
}

TEST(Environment, AnotherRecorderInsideAddsNothingTwice) {
  const auto once = injectedEnvironment({}, kInstalled, {"/tmp/a", {}});
  const auto twice = injectedEnvironment(once, kInstalled, {"/tmp/b", {}});
  EXPECT_EQ(value(twice, "LD_PRELOAD"), kInstalled.preload);
  EXPECT_EQ(value(twice, "PYTHONPATH"), kInstalled.pythonFolder);
  EXPECT_EQ(value(twice, "SONDE_CHAIN_NVTX"), "(unset)");
  EXPECT_EQ(value(twice, "SONDE_CHAIN_CUDA"), "(unset)");
  EXPECT_EQ(value(twice, "SONDE_SESSION"), "/tmp/b");
}

TEST(Environment, SaysWhatIsMissing) {
  const auto installation = findInstallation();  // the test program does not lie in bin/
  ASSERT_FALSE(installation);
  EXPECT_THAT(installation.error().message, ::testing::HasSubstr("libsonde_preload.so is missing"));
}

}  // namespace
}  // namespace sonde::recorder
