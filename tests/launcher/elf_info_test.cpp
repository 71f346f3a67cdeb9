#include "collector/launcher/elf_info.h"

#include "tests/launcher/target_files.h"

#include <elf.h>
#include <gmock/gmock.h>

namespace sonde::launcher {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(ElfInfo, ReadsADynamicProgram) {
  const auto elf = readElf(builtTarget("plain_program"));
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_TRUE(elf->is64);
  EXPECT_TRUE(elf->littleEndian);
  EXPECT_THAT(elf->interpreter, HasSubstr("/ld-linux"));
  EXPECT_THAT(elf->needed, Contains("libc.so.6"));
  EXPECT_FALSE(elf->sanitizer);
}

TEST(ElfInfo, AStaticProgramHasNoInterpreter) {
  const auto elf = readElf(builtTarget("static_program"));
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_EQ(elf->interpreter, "");
  EXPECT_THAT(elf->needed, IsEmpty());
}

TEST(ElfInfo, SeesASanitizerThatIsNeeded) {
  const auto elf = readElf(builtTarget("asan_program"));
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_THAT(elf->needed, Contains(StartsWith("libasan")));
  EXPECT_TRUE(elf->sanitizer);
}

TEST(ElfInfo, SeesASanitizerThatIsLinkedIn) {
  const auto elf = readElf(builtTarget("static_asan_program"));
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_THAT(elf->needed, ::testing::Not(Contains(StartsWith("libasan"))));
  EXPECT_TRUE(elf->sanitizer);
}

TEST(ElfInfo, RefusesWhatIsNoElfFile) {
  const ScratchFolder folder;
  for (const char* text : {"", "\177EL", "#!/bin/sh\n"}) {
    const auto elf = readElf(folder.write("text", text));
    ASSERT_FALSE(elf);
    EXPECT_EQ(elf.error().code, ErrorCode::Unsupported);
  }
}

TEST(ElfInfo, ReportsAMissingFile) {
  const auto elf = readElf("/no/such/program");
  ASSERT_FALSE(elf);
  EXPECT_EQ(elf.error().code, ErrorCode::Io);
}

// Every length up to past the tables: an error or a reading, never a crash.
TEST(ElfInfo, SurvivesAFileCutAnywhere) {
  const ScratchFolder folder;
  const std::string bytes = readAll(builtTarget("plain_program"));
  int damaged = 0;
  for (std::size_t length = 16; length < 4096; length += 7) {
    const auto elf = readElf(folder.write("cut", bytes.substr(0, length)));
    damaged += !elf && elf.error().code == ErrorCode::Corrupt ? 1 : 0;
  }
  EXPECT_GT(damaged, 100);
}

TEST(ElfInfo, SurvivesTablesThatPointOutsideTheFile) {
  const ScratchFolder folder;
  std::string bytes = readAll(builtTarget("plain_program"));
  auto* header = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
  header->e_phoff = ~0ULL - 8;
  const auto elf = readElf(folder.write("wild", bytes));
  ASSERT_FALSE(elf);
  EXPECT_EQ(elf.error().code, ErrorCode::Corrupt);
}

}  // namespace
}  // namespace sonde::launcher
