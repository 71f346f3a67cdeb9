#include "analysis/export/output_file.h"

#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace sonde::exports {
namespace {

namespace fs = std::filesystem;

TEST(OutputFile, AppearsWholeUnderItsNameOrNotAtAll) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "out.json";
  {
    OutputFile cut = test::must(OutputFile::create(path, false));
    test::must(cut.write("half"));
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(fs::is_empty(folder / ""));
  OutputFile whole = test::must(OutputFile::create(path, false));
  test::must(whole.write("whole"));
  test::must(whole.finish());
  EXPECT_EQ(fs::file_size(path), 5U);
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
}

TEST(OutputFile, ReplacesOnlyWhenToldTo) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "out.json";
  test::writeText(path, "mine");
  const auto refused = OutputFile::create(path, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("exists: give -f"));
  test::must(test::must(OutputFile::create(path, true)).finish());
  EXPECT_EQ(fs::file_size(path), 0U);
}

TEST(OutputFile, KeepsWhatAppearedUnderItsNameMeanwhile) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "out.json";
  OutputFile output = test::must(OutputFile::create(path, false));
  test::must(output.write("of the export"));
  test::writeText(path, "somebody else's");
  const auto refused = output.finish();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(test::readText(path), "somebody else's");
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
}

TEST(OutputFile, LeavesNothingWhenItCannotTakeItsName) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "out.json";
  OutputFile output = test::must(OutputFile::create(path, true));
  fs::create_directory(path);
  ASSERT_FALSE(output.finish());
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
  EXPECT_TRUE(fs::is_directory(path));
}

TEST(OutputFile, SaysWhyItCannotBeMade) {
  const auto refused = OutputFile::create("/nonexistent/out.json", false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("No such file or directory"));
}

TEST(OutputFile, TellsOfAFullDisk) {
  const fs::path full = "/dev/full";
  std::FILE* const probe = std::fopen(full.c_str(), "w");
  ASSERT_NE(probe, nullptr);
  std::fclose(probe);
  const test::TemporaryFolder folder;
  fs::create_symlink(full, folder / "out.json.part");
  OutputFile output = test::must(OutputFile::create(folder / "out.json", true));
  Result<void> written = output.write(std::string(4 << 20, 'x'));
  if (written)
    written = output.finish();
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, ::testing::HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace sonde::exports
