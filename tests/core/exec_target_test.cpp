// Whether Sonde can follow into a program, judged by the program's file.
#include "collector/core/platform/exec_target.h"

#include "tests/support/target_files.h"

#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::core {
namespace {

using test::builtTarget;
using test::readAll;
using test::ScratchFolder;

std::string reasonFor(const std::string& path) {
  const ExecTarget target = inspectTarget(AT_FDCWD, path.c_str(), nullptr);
  return target.reason == nullptr ? "" : target.reason;
}

TEST(ExecTarget, AFileThatIsNotThereIsNotFound) {
  EXPECT_FALSE(inspectTarget(AT_FDCWD, "/does/not/exist", nullptr).found);
  EXPECT_FALSE(inspectTarget(AT_FDCWD, nullptr, nullptr).found);
  EXPECT_FALSE(inspectTarget(AT_FDCWD, "/etc/passwd", nullptr).found);
}

TEST(ExecTarget, AnOrdinaryProgramIsFollowedUnlessASanitizerIsPreloaded) {
  const ExecTarget shell = inspectTarget(AT_FDCWD, "/bin/sh", nullptr);
  EXPECT_TRUE(shell.found);
  EXPECT_EQ(shell.reason, nullptr);
  for (const std::string library : {"libasan.so.8",
                                    "liblsan.so.0",
                                    "libclang_rt.msan-x86_64.so",
                                    "libclang_rt.lsan-x86_64.so"}) {
    std::string entry = "LD_PRELOAD=/a.so:/usr/lib/" + library + " /b.so";
    char* environment[] = {entry.data(), nullptr};
    const ExecTarget sanitized = inspectTarget(AT_FDCWD, "/bin/sh", environment);
    EXPECT_STREQ(sanitized.reason, "sanitizer in LD_PRELOAD") << library;
    EXPECT_TRUE(sanitized.mustStrip);
  }
}

TEST(ExecTarget, ASanitizerIsSeenHoweverItIsLinked) {
  EXPECT_EQ(reasonFor(builtTarget("asan_program")), "sanitizer");
  EXPECT_EQ(reasonFor(builtTarget("static_asan_program")), "sanitizer");
}

constexpr CompanionSet kEverywhere =
    companionBit(2) | companionBit(3) | companionBit(4) | companionBit(5);

TEST(ExecTarget, PythonMayCallWhatHasACompanionAndAShellDoesNot) {
  EXPECT_EQ(inspectTarget(AT_FDCWD, "/usr/bin/python3", nullptr).companions, kAllCompanions);
  EXPECT_EQ(inspectTarget(AT_FDCWD, "/bin/sh", nullptr).companions, kEverywhere);
}

TEST(ExecTarget, WhatAnMpiLauncherStartsMayCallMpi) {
  for (std::string rank : {"OMPI_COMM_WORLD_RANK=0", "PMI_RANK=3"}) {
    char* environment[] = {rank.data(), nullptr};
    EXPECT_EQ(inspectTarget(AT_FDCWD, "/bin/sh", environment).companions,
              companionBit(1) | kEverywhere)
        << rank;
  }
  std::string other = "PMI_RANKS=1";
  char* environment[] = {other.data(), nullptr};
  EXPECT_EQ(inspectTarget(AT_FDCWD, "/bin/sh", environment).companions, kEverywhere);
}

TEST(ExecTarget, PathIsSearchedAsExecvpDoes) {
  char path[4096];
  ASSERT_TRUE(findInPath("sh", path, sizeof path));
  EXPECT_TRUE(std::string(path).ends_with("/sh"));
  EXPECT_FALSE(findInPath("no-such-program-anywhere", path, sizeof path));
  EXPECT_FALSE(findInPath("", path, sizeof path));
}

TEST(ExecTarget, AChainOfScriptsIsFollowedAsFarAsTheKernelGoes) {
  const ScratchFolder folder;
  std::string program = builtTarget("static_program");
  for (int depth = 1; depth <= 5; ++depth) {
    program = folder.write("script" + std::to_string(depth), "#!" + program + "\n");
    EXPECT_EQ(reasonFor(program), "static") << depth;
  }
  program = folder.write("script6", "#!" + program + "\n");
  EXPECT_FALSE(inspectTarget(AT_FDCWD, program.c_str(), nullptr).found);
}

// The file is cut at every length up to past the tables: any result, but never a crash.
TEST(ExecTarget, AFileThatIsCutAnywhereIsSurvived) {
  const ScratchFolder folder;
  const std::string bytes = readAll(builtTarget("plain_program"));
  for (std::size_t length = 0; length < 4096; length += 7) {
    const std::string cut = folder.write("cut", bytes.substr(0, length));
    EXPECT_EQ(inspectTarget(AT_FDCWD, cut.c_str(), nullptr).found, length >= sizeof(Elf32_Ehdr));
  }
}

TEST(ExecTarget, TablesThatPointOutsideTheFileAreSurvived) {
  const ScratchFolder folder;
  std::string bytes = readAll(builtTarget("plain_program"));
  auto* header = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
  header->e_phoff = ~0ULL - 8;
  EXPECT_EQ(reasonFor(folder.write("wild", bytes)), "static");
  header->e_phentsize = 1;
  EXPECT_EQ(reasonFor(folder.write("odd", bytes)), "damaged ELF file");
}

}  // namespace
}  // namespace sonde::core
