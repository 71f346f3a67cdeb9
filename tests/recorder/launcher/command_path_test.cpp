#include "recorder/launcher/command_path.h"

#include "tests/support/target_files.h"

#include <unistd.h>

namespace sonde::launcher {
namespace {

using test::ScratchFolder;

TEST(CommandPath, FindsTheFirstInTheSearchPath) {
  const ScratchFolder folder;
  const CommandPath found = findCommand("sh", "/nowhere:/bin:/usr/bin");
  EXPECT_EQ(found.path, "/bin/sh");
  EXPECT_EQ(found.exitStatus, 0);
}

TEST(CommandPath, TakesANameWithASlashAsItStands) {
  EXPECT_EQ(findCommand("/bin/sh", "").path, "/bin/sh");
  EXPECT_EQ(findCommand("bin/nothing", "/").exitStatus, kExitNotFound);
}

TEST(CommandPath, AMissingCommandIs127) {
  const CommandPath found = findCommand("no-such-command-here", "/bin:/usr/bin");
  EXPECT_EQ(found.path, "");
  EXPECT_EQ(found.exitStatus, kExitNotFound);
  EXPECT_EQ(found.message, "no-such-command-here: command not found");
  EXPECT_EQ(findCommand("", "/bin").exitStatus, kExitNotFound);
  EXPECT_EQ(findCommand("/bin/sh/deeper", "").exitStatus, kExitNotFound);
}

TEST(CommandPath, AFileThatMayNotBeRunIs126) {
  const ScratchFolder folder;
  folder.write("data", "x", 0644);
  EXPECT_EQ(findCommand(folder.path("data"), "").exitStatus, kExitNotExecutable);
  EXPECT_EQ(findCommand("data", folder.path("")).exitStatus, kExitNotExecutable);
  EXPECT_EQ(findCommand(folder.path(""), "").exitStatus, kExitNotExecutable);
}

TEST(CommandPath, AFolderInTheSearchPathIsPassedOver) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path("sh"));
  EXPECT_EQ(findCommand("sh", folder.path("") + ":/bin").path, "/bin/sh");
  EXPECT_EQ(findCommand("sh", folder.path("")).exitStatus, kExitNotFound);
}

TEST(CommandPath, AnEmptyElementIsTheWorkingFolder) {
  const ScratchFolder folder;
  folder.write("here", "#!/bin/sh\n");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path(""));
  EXPECT_EQ(findCommand("here", "/nowhere:").path, "./here");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace sonde::launcher
