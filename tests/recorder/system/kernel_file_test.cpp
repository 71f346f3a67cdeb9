#include "recorder/system/kernel_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace sonde::recorder::system {
namespace {

// The kernel returns a process's memory map one page of text at a time.
TEST(KernelFile, ReadsWhatIsToldAPageAtATimeToItsEnd) {
  constexpr std::size_t kPages = 2000;  // each is a separate mapping
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory =
      ::mmap(nullptr, kPages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  for (std::size_t at = 0; at < kPages; at += 2)
    ASSERT_EQ(::mprotect(static_cast<char*>(memory) + at * page, page, PROT_NONE), 0);
  KernelFile file("/proc/self/maps");
  file.read();  // which may allocate memory itself
  const std::string text(file.read());
  EXPECT_GT(text.size(), 16U * 4096);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_NE(text.find("[stack]"), std::string::npos) << "one of the last";
  ::munmap(memory, kPages * page);
}

}  // namespace
}  // namespace sonde::recorder::system
