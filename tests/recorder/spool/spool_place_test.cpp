#include "recorder/spool/spool_place.h"

#include "tests/recorder/scratch_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SpoolRequest request(const std::string& place, std::map<std::string, std::string> variables = {}) {
  SpoolRequest made;
  made.place = place;
  made.variable = [variables](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return made;
}

TEST(SpoolPlace, TriesTheNamedPlacesFirst) {
  EXPECT_THAT(spoolPlaces(request("/a", {{"SONDE_SPOOL", "/b"}, {"TMPDIR", "/c"}})),
              ElementsAre("/a", "/b", "/c", "/tmp", "/var/tmp"));
  EXPECT_THAT(spoolPlaces(request("", {{"TMPDIR", "/tmp"}})), ElementsAre("/tmp", "/var/tmp"));
}

TEST(SpoolPlace, RefusesAFileSystemThatPromisesNothing) {
  const PlaceCheck check = checkPlace("/proc", true, 1 << 20);
  EXPECT_FALSE(check.usable);
  EXPECT_THAT(check.why, HasSubstr("cannot guarantee allocated space"));
}

TEST(SpoolPlace, RefusesAPlaceThatIsNotThere) {
  const PlaceCheck check = checkPlace("/no/such/place", true, 1 << 20);
  EXPECT_FALSE(check.usable);
  EXPECT_THAT(check.why, HasSubstr("No such file"));
}

TEST(SpoolPlace, MakesThePlaceThatTheUserHasNamed) {
  const ScratchFolder scratch;
  const fs::path named = scratch.path() / "not" / "yet";
  const fs::path unnamed = scratch.path() / "nor this";
  const auto checks = makePlaces(request(named, {{"TMPDIR", unnamed}}));
  ASSERT_GE(checks.size(), 2U);
  EXPECT_TRUE(checks[0].usable) << checks[0].why;
  EXPECT_TRUE(fs::is_directory(named));
  EXPECT_FALSE(checks[1].usable);
  EXPECT_FALSE(fs::exists(unnamed));
}

TEST(SpoolPlace, MakesNoPlaceBehindAUsableOne) {
  const ScratchFolder scratch;
  const fs::path first = scratch.path() / "first";
  const fs::path second = scratch.path() / "second";
  const auto checks = makePlaces(request(first, {{"SONDE_SPOOL", second}}));
  ASSERT_TRUE(checks[0].usable) << checks[0].why;
  EXPECT_TRUE(fs::exists(first));
  EXPECT_FALSE(fs::exists(second));
}

TEST(SpoolPlace, SaysWhyAPlaceCannotBeMade) {
  const auto checks = makePlaces(request("/proc/no/such/place"));
  EXPECT_FALSE(checks[0].usable);
  EXPECT_THAT(checks[0].why, HasSubstr("No such file"));
}

TEST(SpoolPlace, MakesAFolderForThisUserAlone) {
  const ScratchFolder scratch;
  const auto folder = makeSessionFolder(scratch.path());
  ASSERT_TRUE(folder) << folder.error().message;
  struct stat status {};
  for (const fs::path& made : {*folder, folder->parent_path()}) {
    ASSERT_EQ(stat(made.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
  }
  EXPECT_EQ(folder->parent_path().filename(), "sonde-" + std::to_string(geteuid()));
  EXPECT_THAT(folder->filename().string(), ::testing::StartsWith(std::to_string(getpid()) + "-"));
  const auto second = makeSessionFolder(scratch.path());
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *folder);
}

TEST(SpoolPlace, DistrustsAFolderThatOthersCanWriteTo) {
  const ScratchFolder scratch;
  const fs::path mine = scratch.path() / ("sonde-" + std::to_string(geteuid()));
  fs::create_directory(mine);
  chmod(mine.c_str(), 0777);
  EXPECT_FALSE(makeSessionFolder(scratch.path()));
  fs::remove(mine);
  fs::create_directory_symlink("/", mine);
  EXPECT_FALSE(makeSessionFolder(scratch.path())) << "a link that somebody left there";
}

}  // namespace
}  // namespace sonde::recorder
