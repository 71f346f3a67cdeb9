// The exporters whose output is plain text: tables and folded stacks.
#include "analysis/export/csv/csv_exporter.h"
#include "analysis/export/folded/folded_exporter.h"
#include "analysis/store/trace_file.h"
#include "tests/export/export_rig.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace sonde::exports {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST_F(TableExporters, FoldedCountsEachNanosecondOnce) {
  EXPECT_EQ(test::exported(
                folder_ / "a.sonde",
                folder_ / "a.folded",
                [](const auto& trace, OutputFile& output) { return exportFolded(trace, output); }),
            "rank 3;main 11;overlaps 800\n"
            "rank 3;main 11;step 700\n"
            "rank 3;main 11;step;launch 200\n"
            "rank 3;main 11;step;launch;cudaLaunchKernel 100\n");
}

}  // namespace
}  // namespace sonde::exports
