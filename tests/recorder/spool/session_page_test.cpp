#include "recorder/spool/session_page.h"

#include "tests/recorder/scratch_folder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sonde::recorder {
namespace {

TEST(SessionPageFile, IsWhatAProcessOfTheRunMaps) {
  const ScratchFolder folder;
  auto page = SessionPage::create(folder.path(), 0x25, 1 << 20);
  ASSERT_TRUE(page) << page.error().message;
  const int file = open((folder.path() / "session").c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  struct stat status {};
  fstat(file, &status);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_GE(status.st_blocks * 512, 4096) << "allocated, not sparse";
  void* memory = mmap(nullptr, sizeof(wire::SessionPage), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  ASSERT_NE(memory, MAP_FAILED);
  const auto* mapped = static_cast<const wire::SessionPage*>(memory);
  EXPECT_EQ(mapped->version, wire::kSpoolVersion);
  EXPECT_EQ(mapped->probeMask, 0x25U);
  EXPECT_EQ(mapped->limitBytes, 1U << 20);
  EXPECT_EQ(mapped->recording.load(), 1U);
  auto other = SessionPage::open(folder.path());
  ASSERT_TRUE(other) << other.error().message;
  other->setRecording(wire::RecordingState::Off);
  EXPECT_EQ(mapped->recording.load(), 0U);
  munmap(memory, sizeof(wire::SessionPage));
}

TEST(SessionPageFile, FailsWhereNothingCanBeAllocated) {
  EXPECT_FALSE(SessionPage::create("/no/such/folder", 1, 1));
  EXPECT_FALSE(SessionPage::create("/proc", 1, 1));
  EXPECT_FALSE(SessionPage::open("/no/such/folder"));
}

}  // namespace
}  // namespace sonde::recorder
