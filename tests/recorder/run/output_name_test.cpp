#include "recorder/run/output_name.h"

#include "analysis/store/trace_name.h"
#include "tests/recorder/scratch_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

OutputRequest request(const std::string& pattern) {
  OutputRequest made;
  made.pattern = pattern;
  made.program = "/usr/bin/python3";
  made.pid = 77;
  made.host = "node1";
  made.variable = [](const std::string& name) {
    return name == "STEP" ? std::optional<std::string>("s9") : std::nullopt;
  };
  return made;
}

std::string pathOf(const OutputRequest& made) {
  const auto path = outputPath(made);
  return path ? path->string() : "error: " + path.error().message;
}

TEST(OutputName, IsProgramAndPidByDefault) {
  EXPECT_EQ(pathOf(request("")), (fs::current_path() / "python3-77.sonde").string());
  OutputRequest ranked = request("");
  ranked.rank = 3;
  EXPECT_EQ(pathOf(ranked), (fs::current_path() / "python3-77.sonde").string());
}

TEST(OutputName, ExpandsPlaceholders) {
  OutputRequest made = request("/t/%h-%p-r%r-%q{STEP}-100%%.sonde");
  made.rank = 3;
  EXPECT_EQ(pathOf(made), "/t/node1-77-r3-s9-100%.sonde");
}

TEST(OutputName, AFolderGetsANameOfTheRank) {
  const ScratchFolder folder;
  OutputRequest made = request("/t/new/");
  EXPECT_EQ(pathOf(made), "/t/new/python3-77.sonde");
  made.rank = 0;
  EXPECT_EQ(pathOf(made), "/t/new/rank0.sonde");
  made.pattern = folder.path().string();  // without a slash, but it exists
  EXPECT_EQ(pathOf(made), (folder.path() / "rank0.sonde").string());
}

TEST(OutputName, RefusesWhatItCannotExpand) {
  EXPECT_THAT(pathOf(request("a%r")), HasSubstr("no rank"));
  EXPECT_THAT(pathOf(request("a%q{NOPE}")), HasSubstr("no variable NOPE"));
  for (const char* pattern : {"a%", "a%x", "a%q", "a%q{STEP", "a%qSTEP}"})
    EXPECT_THAT(pathOf(request(pattern)), HasSubstr("error: ")) << pattern;
}

TEST(OutputName, ClaimMakesFoldersAndAnEmptyPart) {
  const ScratchFolder folder;
  const fs::path output = folder.path() / "a/b/c.sonde";
  ASSERT_TRUE(claimOutput(output, false));
  EXPECT_FALSE(fs::exists(output));
  EXPECT_EQ(readFile(store::partOf(output)), "");
  EXPECT_TRUE(fs::exists(store::partOf(output)));
}

TEST(OutputName, OneOfTwoClaimsSucceeds) {
  const ScratchFolder folder;
  ASSERT_TRUE(claimOutput(folder.path() / "t.sonde", false));
  EXPECT_FALSE(claimOutput(folder.path() / "t.sonde", false));
}

TEST(OutputName, ClaimLeavesNoLogOfAnEarlierPart) {
  const ScratchFolder folder;
  const fs::path output = folder.path() / "t.sonde";
  const fs::path log = store::partOf(output).string() + "-wal";
  writeFile(log, "of a part that was removed by hand");
  ASSERT_TRUE(claimOutput(output, false));
  EXPECT_FALSE(fs::exists(log));
}

TEST(OutputName, ClaimRefusesAnExistingTraceUnlessForced) {
  const ScratchFolder folder;
  const fs::path output = folder.path() / "t.sonde";
  writeFile(output, "old");
  const auto refused = claimOutput(output, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("-f to replace it"));
  ASSERT_TRUE(claimOutput(output, true));
  EXPECT_EQ(readFile(output), "old") << "it stays until the new one is finished";
}

TEST(OutputName, ClaimRefusesAnUnfinishedRecordingUnlessForced) {
  const ScratchFolder folder;
  const fs::path output = folder.path() / "t.sonde";
  writeFile(store::partOf(output), "half");
  const auto refused = claimOutput(output, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("sonde recover"));
  EXPECT_EQ(readFile(store::partOf(output)), "half");
  ASSERT_TRUE(claimOutput(output, true));
  EXPECT_EQ(readFile(store::partOf(output)), "");
}

TEST(OutputName, ClaimRefusesAPlaceWhereNothingCanBeCreated) {
  const ScratchFolder folder;
  writeFile(folder.path() / "file", "");
  const auto below = claimOutput(folder.path() / "file/t.sonde", false);
  ASSERT_FALSE(below);
  EXPECT_THAT(below.error().message, HasSubstr("cannot create the folder"));
  EXPECT_FALSE(claimOutput(folder.path(), true)) << "a folder is no trace";
  EXPECT_FALSE(claimOutput("/proc/t.sonde", false));
}

}  // namespace
}  // namespace sonde::recorder
