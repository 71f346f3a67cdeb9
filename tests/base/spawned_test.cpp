#include "base/spawned.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace sonde {
namespace {

TEST(RunToItsEnd, ReturnsHowItEndedAndWhatItSaid) {
  auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto errors = folder->path() / "errors";
  const auto status = runToItsEnd("/bin/sh", {"sh", "-c", "echo why >&2; exit 7"}, errors);
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 7);
  std::ifstream file(errors);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "why\n");
}

TEST(RunToItsEnd, SaysWhatCannotBeStarted) {
  EXPECT_FALSE(runToItsEnd("/nowhere/at/all", {"all"}, "/dev/null"));
}

// The program interrupts its parent, as a terminal does, and then sleeps.
TEST(RunToItsEnd, AnInterruptEndsTheProgramAndNotTheCaller) {
  const auto status =
      runToItsEnd("/bin/sh", {"sh", "-c", "kill -TERM $PPID; exec sleep 600"}, "/dev/null");
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFSIGNALED(*status));
  EXPECT_EQ(WTERMSIG(*status), SIGTERM);
  struct sigaction after {};
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL) << "it is the caller's again";
}

TEST(TemporaryFolderTest, GoesWithItsOwnerAndAllThatIsInIt) {
  std::filesystem::path path;
  {
    auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder);
    path = folder->path();
    std::ofstream(path / "file") << "content";
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
    const TemporaryFolder moved = std::move(*folder);
    EXPECT_EQ(moved.path(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace sonde
