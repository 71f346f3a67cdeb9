#include "analysis/ingest/stacks/code_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace sonde::ingest {
namespace {

// An ELF file that only has headers.
std::vector<std::byte> fileOf(const std::vector<Elf64_Phdr>& segments, std::size_t bytes) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phnum = static_cast<Elf64_Half>(segments.size());
  std::vector<std::byte> file(bytes);
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, segments.data(), segments.size() * sizeof segments[0]);
  return file;
}

TEST(CodeFile, FindsCodeThatSharesItsFirstPageWithTheSegmentBefore) {
  constexpr Elf64_Xword kPage = 0x1000;
  const auto file = fileOf({{PT_LOAD, PF_R, 0, 0, 0, 0x5cc0, 0x5cc0, kPage},
                            {PT_LOAD, PF_R | PF_X, 0x5cc0, 0x6cc0, 0x6cc0, 0x2000, 0x2000, kPage},
                            {PT_LOAD, PF_R | PF_W, 0x7cc0, 0x9cc0, 0x9cc0, 0x100, 0x100, kPage}},
                           0x8000);
  const auto code = CodeFile::ofImage(file, "packed");
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_EQ((*code)->codeAddressAt(0x5000), 0x6000U);
  EXPECT_EQ((*code)->codeAddressAt(0x7cbf), 0x8cbfU);
  EXPECT_EQ((*code)->codeAddressAt(0x4fff), std::nullopt);
  EXPECT_EQ((*code)->codeAddressAt(0x7cc0), std::nullopt);
}

}  // namespace
}  // namespace sonde::ingest
