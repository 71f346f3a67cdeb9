// Nsight Systems exports that are damaged or strange, and files that are not exports.
#include "analysis/ingest/nsight/nsight_importer.h"
#include "tests/ingest/import/damaged_files.h"
#include "tests/ingest/nsight/nsight_fixture.h"
#include "tests/support/nsight_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::ingest {
namespace {

using test::kNsightVersions;
using test::NsightExport;
using test::NsightVersion;
using ::testing::Contains;
using ::testing::HasSubstr;

using NsightDamageTest = NsightImporterTest;

TEST_F(NsightDamageTest, ColumnsThatAreNotThereCostNoMoreThanTheyMust) {
  make().fill();
  file_->run(
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN correlationId;"
      "ALTER TABLE OSRT_API DROP COLUMN start; CREATE TABLE CUDA_GPU_FUTURE(x INTEGER)");
  mustImport();
  EXPECT_EQ(rows("SELECT count(*) || '|' || count(launch_slice_id) AS concat_row FROM kernel"),
            "4|0");
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("table OSRT_API has no column start")));
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("not imported: CUDA_GPU_FUTURE")));
}

TEST_F(NsightDamageTest, DamagedValuesAreCountedAndShown) {
  make().fill();
  file_->run(
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'x' WHERE rowid = 1;"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = x'00', demangledName = 12345 "
      "WHERE rowid = 2;"
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 5 WHERE rowid = 3;"
      "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = 9223372036854775806, end = "
      "9223372036854775807 WHERE rowid = 1;"
      "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = NULL WHERE rowid = 4;"
      "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 20 WHERE rowid = 6");
  mustImport();
  EXPECT_EQ(
      rows("SELECT n.text || '|' || coalesce(grid_x, '-') || '|' || dur_ns AS concat_row FROM "
           "kernel JOIN string n ON n.id = name_id ORDER BY start_ns"),
      "[unknown]|-|200 void gemm<float>(float*)|4|0 "
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)|4|200");
  EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss ORDER BY reason"),
            "no time|1 unreadable|2 unreadable value|2");
  EXPECT_THAT(summary_.warnings,
              Contains(HasSubstr("2 events cannot be read; the first is row 4 of table "
                                 "CUPTI_ACTIVITY_KIND_RUNTIME, whose globalTid is missing")));
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("1 durations are negative")));
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("1 calls have the correlation of another")));
  EXPECT_EQ(summary_.dropped.at("unreadable value"), 2U);
}

TEST_F(NsightDamageTest, ExtremeTimesEndAsATraceOrAsAnError) {
  make();
  file_->run(
      "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) VALUES "
      "(-9223372036854775807, 9223372036854775807, 59, 'all', $TID),"
      "(-9223372036854775808, -9223372036854775800, 59, 'first', $TID),"
      "(9223372036854775800, 9223372036854775806, 59, 'last', -1),"
      "(0, 10, 59, 'now', 0)");
  mustImport();
  EXPECT_EQ(rows("SELECT n.text AS concat_row FROM slice JOIN string n ON n.id = name_id "
                 "ORDER BY start_ns"),
            "now");
  EXPECT_EQ(summary_.dropped.at("no time"), 3U);
}

// Other items could run code from the file in its reader, or never end.
TEST_F(NsightDamageTest, OnlyTablesAndStoredColumnsAreRead) {
  make().fill();
  file_->run(
      "DROP TABLE OSRT_API;"
      "CREATE VIEW OSRT_API AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
      "n) SELECT i AS start, i AS end, $TID AS globalTid FROM n;"
      "DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(x INTEGER, start INTEGER AS (length(zeroblob("
      "999999999))));"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(x) VALUES (1);"
      "DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER PRIMARY KEY) WITHOUT ROWID;"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1);"
      "DROP TABLE PROFILER_OVERHEAD; CREATE VIRTUAL TABLE PROFILER_OVERHEAD USING "
      "fts5(start, globalTid)");
  mustImport();
  EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM kernel"), "4");
  EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM slice WHERE category = 'osrt'"), "0");
  EXPECT_THAT(summary_.warnings,
              Contains(HasSubstr("CUPTI_ACTIVITY_KIND_MEMCPY has no column start")));
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("CUPTI_ACTIVITY_KIND_MEMSET cannot be read")));
}

// A table's page refers to one later page again and again, so that its rows repeat.
TEST_F(NsightDamageTest, PagesThatComeAgainEndTheTable) {
  make().fill();
  file_->run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO "
      "NVTX_EVENTS(start, end, eventType, text, globalTid) SELECT i, i, 59, 'x', $TID FROM n");
  file_.reset();
  std::int64_t page = 0;
  {
    const auto file = store::Database::open(path(), store::Access::ReadOnly);
    page = *file->queryInteger("SELECT rootpage FROM sqlite_schema WHERE name = 'NVTX_EVENTS'");
  }
  std::string bytes = test::readText(path());
  const std::size_t begin = static_cast<std::size_t>(page - 1) * 1024;
  const auto word = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[begin + at])) * 256 +
           static_cast<unsigned char>(bytes[begin + at + 1]);
  };
  ASSERT_EQ(bytes[begin], 5);  // it has pages below
  for (std::size_t cell = 1; cell < word(3); ++cell)
    bytes.replace(begin + word(12 + 2 * cell), 4, bytes, begin + word(12), 4);
  test::writeText(path(), bytes);
  mustImport();
  EXPECT_THAT(summary_.warnings,
              Contains(HasSubstr("table NVTX_EVENTS cannot be read after its row")));
  EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM kernel"), "4");
}

TEST_F(NsightDamageTest, DamagedFilesAreImportedInPartOrRefused) {
  make().fill();
  file_.reset();
  const std::string damaged = folder_ / "damaged.sqlite";
  const test::DamageCount count = test::importDamaged(
      test::readText(path()), damaged, 3000, [&](store::TraceWriter& writer) -> Result<void> {
        auto imported = NsightImporter(writer, folder_.path(), {}).import(damaged);
        return imported ? Result<void>() : std::move(imported).error();
      });
  EXPECT_GT(count.whole, 500);
  EXPECT_GT(count.refused, 1000);  // all that are cut
}

TEST_F(NsightDamageTest, OtherDatabasesAreRefused) {
  auto other = store::Database::open(path(), store::Access::Create);
  ASSERT_TRUE(other->exec("CREATE TABLE mine(x); INSERT INTO mine VALUES (1)"));
  const auto imported = import();
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message,
              HasSubstr("not one that 'nsys export --type sqlite' wrote"));
  make();
  const auto empty = import();
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(empty.error().message, HasSubstr("it has no events"));
}

}  // namespace
}  // namespace sonde::ingest
