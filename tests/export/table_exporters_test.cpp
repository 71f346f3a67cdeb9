// Exporters with plain text output: tables and folded stacks.
#include "analysis/export/csv/csv_exporter.h"
#include "analysis/export/folded/folded_exporter.h"
#include "analysis/store/trace_file.h"
#include "tests/export/export_rig.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

namespace sonde::exports {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class TableExporters : public ::testing::Test {
 protected:
  TableExporters() { test::writeViewersTrace(folder_ / "a.sonde"); }
  Result<void> writeCsv(bool replace) {
    return exportCsv(test::must(store::openTrace(folder_ / "a.sonde")), folder_ / "csv", replace);
  }

  test::TemporaryFolder folder_;
};

TEST_F(TableExporters, CsvHasAFileForEachTableThatHasRows) {
  test::must(writeCsv(false));
  EXPECT_TRUE(fs::exists(folder_ / "csv/slice.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "csv/copy.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "csv/lod.csv"));
  EXPECT_THAT(test::readText(folder_ / "csv/process.csv"),
              HasSubstr(",\"python \"\"train\"\".py\","));
  const std::string scalars = test::readText(folder_ / "csv/scalar.csv");
  EXPECT_EQ(scalars,
            "process_id,rank,iteration,name,value,ts_ns,rel_ns\r\n"
            "1,3,7,loss,0.25,1000000000000001023,900\r\n");
}

TEST_F(TableExporters, CsvReplacesOnlyWhenToldTo) {
  test::must(writeCsv(false));
  const auto again = writeCsv(false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::InvalidArgument);
  test::must(writeCsv(true));
}

TEST_F(TableExporters, CsvThatFailsHalfWayLeavesEverythingAsItWas) {
  test::must(test::must(store::reopenTrace(folder_ / "a.sonde"))
                 .exec("DROP VIEW v_slice; CREATE VIEW v_slice AS SELECT abs(id - 1 + "
                       "-9223372036854775807 - 1) AS x FROM slice"));
  const auto listing = [&] {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / ""))
      if (entry.path().stem() != "a")
        names.push_back(fs::relative(entry.path(), folder_ / ""));
    return names;
  };
  EXPECT_FALSE(writeCsv(false));
  EXPECT_THAT(listing(), IsEmpty());
  fs::create_directory(folder_ / "csv");
  test::writeText(folder_ / "csv/scalar.csv", "old");
  EXPECT_FALSE(writeCsv(true));
  EXPECT_THAT(listing(), UnorderedElementsAre("csv", "csv/scalar.csv"));
  EXPECT_EQ(test::readText(folder_ / "csv/scalar.csv"), "old");
}

TEST_F(TableExporters, CsvGoesIntoAFolderThatIsThere) {
  fs::create_directory(folder_ / "real");
  fs::create_directory_symlink("real", folder_ / "csv");
  test::must(writeCsv(false));
  test::writeText(folder_ / "real/mine", "mine");
  test::writeText(folder_ / "real/scalar.csv", "old");
  test::must(writeCsv(true));
  EXPECT_EQ(test::readText(folder_ / "real/mine"), "mine");
  EXPECT_THAT(test::readText(folder_ / "real/scalar.csv"), StartsWith("process_id,"));
  EXPECT_FALSE(fs::exists(folder_ / "real/.part"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "csv"));
}

TEST_F(TableExporters, CsvTouchesNothingOfSomebodyElses) {
  const auto mustRefuse = [&](const char* why) {
    const auto refused = writeCsv(true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr(why));
  };
  fs::create_directory(folder_ / "csv.part");
  test::writeText(folder_ / "csv.part/scalar.csv", "mine");
  mustRefuse("csv.part' is left over from an interrupted export: remove it");
  EXPECT_EQ(test::readText(folder_ / "csv.part/scalar.csv"), "mine");
  test::writeText(folder_ / "csv", "mine");
  mustRefuse("csv' is not a folder");
  EXPECT_EQ(test::readText(folder_ / "csv"), "mine");
}

TEST_F(TableExporters, CsvLeavesNoTableOfAnotherExport) {
  test::must(writeCsv(false));
  EXPECT_TRUE(fs::exists(folder_ / "csv/kernel.csv"));
  test::writeText(folder_ / "csv/mine.csv", "mine");
  test::must(test::must(store::reopenTrace(folder_ / "a.sonde")).exec("DELETE FROM kernel"));
  test::must(writeCsv(true));
  EXPECT_FALSE(fs::exists(folder_ / "csv/kernel.csv"));
  EXPECT_TRUE(fs::exists(folder_ / "csv/process.csv"));
  EXPECT_EQ(test::readText(folder_ / "csv/mine.csv"), "mine");
}

TEST_F(TableExporters, CsvNamesWhatIsInTheWayBeforeAnythingIsReplaced) {
  fs::create_directories(folder_ / "csv/thread.csv");
  test::writeText(folder_ / "csv/host.csv", "old");
  const auto refused = writeCsv(true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().message,
              HasSubstr("csv/thread.csv' is a folder: remove it, or give another place with -o"));
  EXPECT_EQ(test::readText(folder_ / "csv/host.csv"), "old");
  EXPECT_FALSE(fs::exists(folder_ / "csv/slice.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "csv/.part"));
}

TEST_F(TableExporters, CsvSaysWhereItCannotBe) {
  fs::create_symlink("nothing", folder_ / "dangling");
  test::writeText(folder_ / "file", "");
  const store::Database trace = test::must(store::openTrace(folder_ / "a.sonde"));
  const std::pair<std::string, std::string> calls[] = {
      {folder_ / "dangling", "' is a dangling link: create the folder, or give another"},
      {"/proc/x/c", "' (No such file or directory): give another place with -o"},
      {folder_ / "file/c", "' (Not a directory): give another place with -o"}};
  for (const auto& [where, why] : calls) {
    const auto refused = exportCsv(trace, where, true);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr(where + why));
  }
}

TEST_F(TableExporters, FoldedCountsEachNanosecondOnce) {
  EXPECT_EQ(test::exported(
                folder_ / "a.sonde",
                folder_ / "a.folded",
                [](const auto& trace, OutputFile& output) { return exportFolded(trace, output); }),
            "rank 3;main 11;step 150\n"
            "rank 3;main 11;step;launch 50\n"
            "rank 3;main 11;step;launch;overlaps 700\n"
            "rank 3;main 11;step;launch;overlaps;cudaLaunchKernel 100\n");
}

}  // namespace
}  // namespace sonde::exports
