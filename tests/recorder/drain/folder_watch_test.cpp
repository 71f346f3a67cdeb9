#include "recorder/drain/folder_watch.h"

#include "tests/recorder/scratch_folder.h"

#include <gmock/gmock.h>

#include <thread>

namespace sonde::recorder {
namespace {

TEST(FolderWatch, ReadsTheNameOfASpoolFile) {
  const auto image = imageOfFileName("0a1b2c3d-4026531836-1234-567890-2.spool");
  ASSERT_TRUE(image);
  EXPECT_EQ(image->pid, 1234);
  EXPECT_EQ(image->startTime, 567890U);
  EXPECT_EQ(image->execCount, 2U);
  for (const char* name : {"0a1b2c3d-4026531836-1234-567890-2.spool.new",
                           "session",
                           "lock",
                           "",
                           "0a1b2c3d-4026531836-1234-567890.spool",
                           "a-b-c-d-e.spool"})
    EXPECT_FALSE(imageOfFileName(name)) << name;
}

TEST(FolderWatch, WakesWhenAnImageAppears) {
  const ScratchFolder folder;
  FolderWatch watch(folder.path());
  EXPECT_THAT(watch.wait(0), ::testing::IsEmpty());
  writeFile(folder.path() / "aa-1-20-300-0.spool.new", "");
  std::filesystem::rename(folder.path() / "aa-1-20-300-0.spool.new",
                          folder.path() / "aa-1-20-300-0.spool");
  const auto images = watch.wait(10'000);
  ASSERT_EQ(images.size(), 1U);
  EXPECT_EQ(images[0].pid, 20);
}

TEST(FolderWatch, StopWakesTheWaiter) {
  const ScratchFolder folder;
  FolderWatch watch(folder.path());
  std::thread stopper([&] { watch.stop(); });
  while (!watch.stopped())
    watch.wait(60'000);
  stopper.join();
  EXPECT_TRUE(watch.stopped());
}

}  // namespace
}  // namespace sonde::recorder
