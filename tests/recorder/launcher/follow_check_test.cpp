#include "recorder/launcher/follow_check.h"

#include "tests/support/target_files.h"

#include <elf.h>

#include <cstring>

namespace sonde::launcher {
namespace {

using test::builtTarget;
using test::readAll;
using test::ScratchFolder;

std::string reasonFor(const std::string& path, const std::vector<std::string>& environment = {}) {
  const FollowCheck check = checkFollow(path, environment);
  EXPECT_EQ(check.follow, check.reason.empty());
  return check.reason;
}

TEST(FollowCheck, FollowsADynamicProgram) {
  EXPECT_EQ(reasonFor(builtTarget("plain_program")), "");
}

TEST(FollowCheck, LeavesAStaticProgramAlone) {
  EXPECT_EQ(reasonFor(builtTarget("static_program")), "static");
}

TEST(FollowCheck, LeavesASanitizerAlone) {
  EXPECT_EQ(reasonFor(builtTarget("asan_program")), "sanitizer");
  EXPECT_EQ(reasonFor(builtTarget("static_asan_program")), "sanitizer");
}

TEST(FollowCheck, KeepsAPreloadedSanitizerFirst) {
  const std::string program = builtTarget("plain_program");
  EXPECT_EQ(reasonFor(program, {"LD_PRELOAD=/usr/lib/libx.so:/usr/lib/libasan.so.8"}),
            "sanitizer in LD_PRELOAD");
  EXPECT_EQ(reasonFor(program, {"LD_PRELOAD=/usr/lib/libjemalloc.so.2"}), "");
}

TEST(FollowCheck, LeavesASetuidProgramAlone) {
  const ScratchFolder folder;
  const std::string bytes = readAll(builtTarget("plain_program"));
  EXPECT_EQ(reasonFor(folder.write("suid", bytes, 04755)), "setuid");
  EXPECT_EQ(reasonFor(folder.write("sgid", bytes, 02755)), "setuid");
  EXPECT_EQ(reasonFor(folder.write("mandatory-lock", bytes, 02745)), "");
}

TEST(FollowCheck, LeavesA32BitProgramAlone) {
  const ScratchFolder folder;
  Elf32_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_386;
  EXPECT_EQ(reasonFor(folder.write(
                "i386", std::string(reinterpret_cast<const char*>(&header), sizeof header))),
            "32-bit");
}

TEST(FollowCheck, LeavesAMuslProgramAlone) {
  const ScratchFolder folder;
  std::string bytes = readAll(builtTarget("plain_program"));
  const std::string glibc = "/ld-linux";
  bytes.replace(bytes.find(glibc), glibc.size(), "/ld-musl-");
  EXPECT_EQ(reasonFor(folder.write("musl", bytes)), "musl");
}

TEST(FollowCheck, AScriptIsItsInterpreter) {
  const ScratchFolder folder;
  const std::string shebang = "#! " + builtTarget("static_program") + " -x\n";
  const std::string inner = folder.write("inner", shebang);
  EXPECT_EQ(reasonFor(inner), "static");
  EXPECT_EQ(reasonFor(folder.write("outer", "#!" + inner + "\n")), "static");
  EXPECT_EQ(reasonFor(folder.write("shell", "#!/bin/sh\necho\n")), "");
  EXPECT_EQ(reasonFor(folder.write("bare", "echo no first line\n")), "");
}

TEST(FollowCheck, GivesUpOnAScriptThatIsItsOwnInterpreter) {
  const ScratchFolder folder;
  const std::string path = folder.path("loop");
  folder.write("loop", "#!" + path + "\n");
  EXPECT_EQ(reasonFor(path), "");  // execve refuses it; the check breaks nothing
}

}  // namespace
}  // namespace sonde::launcher
