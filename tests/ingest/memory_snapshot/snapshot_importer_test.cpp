#include "analysis/ingest/memory_snapshot/snapshot_importer.h"

#include "tests/ingest/import/import_fixture.h"
#include "tests/support/flight_dump.h"
#include "tests/support/pickled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde::ingest {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

json event(const char* action, std::int64_t address, std::int64_t bytes, std::int64_t micros) {
  return {
      {"action", action}, {"addr", address}, {"size", bytes}, {"stream", 0}, {"time_us", micros}};
}

json block(std::int64_t address, std::int64_t bytes, const char* state) {
  return {{"address", address}, {"size", bytes}, {"state", state}, {"frames", json::array()}};
}

class SnapshotImporterTest : public ImportTest {
 protected:
  Result<void> import(const json& snapshot, const std::string& name = "snapshot_rank2.pickle") {
    test::writeText(folder_ / name, sonde::test::pickled(snapshot));
    return importFiles({folder_ / name});
  }
  std::string allocations() {
    return rows(
        "SELECT d.ordinal || ':' || address || ':' || bytes || ':' || alloc_ns || ':' ||"
        " coalesce(free_ns, 'live') || ':' || allocator AS concat_row FROM allocation a JOIN"
        " device d ON d.id = a.device_id ORDER BY a.id");
  }
};

TEST_F(SnapshotImporterTest, HistoryAndBlocksAreAllocations) {
  json alloc = event("alloc", 1000, 64, 10);
  alloc["frames"] = {{{"name", "forward"}, {"filename", "model.py"}, {"line", 7}}};
  const json snapshot = {{"device_traces",
                          {{alloc,
                            event("segment_alloc", 1000, 4096, 10),
                            event("alloc", 1064, 32, 20),
                            event("free_requested", 1000, 64, 30),
                            event("free_completed", 1000, 64, 40),
                            event("alloc", 1000, 16, 50),
                            event("free_completed", 3000, 8, 60)},
                           {event("alloc", 1000, 99, 15)}}},
                         {"segments",
                          {{{"device", 0},
                            {"address", 1000},
                            {"total_size", 4096},
                            {"blocks",
                             {block(1000, 16, "active_allocated"),
                              block(1016, 48, "inactive"),
                              block(1064, 32, "active_allocated"),
                              block(1096, 500, "active_pending_free")}}}}}};
  const auto imported = import(snapshot);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(allocations(),
            "0:1000:64:10000:40000:cuda 0:1064:32:20000:live:cuda 0:1000:16:50000:live:cuda "
            "0:3000:8:10000:60000:cuda 1:1000:99:15000:live:cuda 0:1096:500:10000:live:cuda");
  EXPECT_EQ(
      rows("SELECT n.text || ':' || line AS concat_row FROM allocation a JOIN stack s ON s.id ="
           " a.stack_id JOIN frame f ON f.id = s.frame_id JOIN string n ON n.id = f.name_id"),
      "forward:7");
  // Device 0 has 548 bytes in use at the end of the history, and 48 free in one block.
  EXPECT_EQ(rows("SELECT n.text || ' ' || CAST(v.value AS INTEGER) || ' ' || v.ts_ns AS concat_row"
                 " FROM counter c JOIN string n ON n.id = c.name_id JOIN sample v ON v.counter_id ="
                 " c.id ORDER BY c.id"),
            "allocator reserved 596 60000 allocator in use 548 60000 allocator largest free block "
            "48 60000");
  EXPECT_EQ(rows("SELECT rank || ':' || start_ns || ':' || end_ns AS concat_row FROM process"),
            "2:10000:60000");
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("2 blocks were allocated before the history")));
}

// PyTorch 2.0 writes neither addresses of blocks nor times.
TEST_F(SnapshotImporterTest, OldSnapshotsHaveNoAddressesAndTimes) {
  json first = block(0, 100, "active_allocated");
  json second = block(0, 28, "active_allocated");
  first.erase("address");
  second.erase("address");
  ASSERT_TRUE(
      import({{"segments", {{{"device", 3}, {"address", 5000}, {"blocks", {first, second}}}}}}));
  EXPECT_EQ(allocations(), "3:5000:100:0:live:cuda 3:5100:28:0:live:cuda");
}

TEST_F(SnapshotImporterTest, RefusesASnapshotWithoutBlocks) {
  const auto empty = import({{"segments", json::array()}});
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("_record_memory_history()"));
  const auto bad =
      import({{"segments",
               {{{"device", 0}, {"blocks", {{{"size", "x"}, {"state", "active_allocated"}}}}}}}});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("none of its 1 blocks and events can be read"));
  EXPECT_THAT(bad.error().message, HasSubstr("block 0 of segment 0, which has no size"));
}

TEST_F(SnapshotImporterTest, ADumpHasTheSameRowsAsPickle) {
  sonde::test::FlightDump dump;
  dump.group("0", "[0, 1]", "default_pg").call({.seq = 5}).call({.seq = 6, .state = "started"});
  const auto rowsOf = [&] {
    return rows(
        "SELECT seq || op || start_ns || bytes || a.value AS concat_row FROM collective c"
        " JOIN arg a ON a.owner = 'collective' AND a.owner_id = c.id");
  };
  ASSERT_TRUE(import(dump.json(), "_dump_0"));
  const std::string ofPickle = rowsOf();
  test::writeText(folder_ / "_dump_0", dump.text());
  ASSERT_TRUE(importFiles({folder_ / "_dump_0"}));
  EXPECT_EQ(rowsOf(), ofPickle);
  EXPECT_NE(ofPickle, "");
}

}  // namespace
}  // namespace sonde::ingest
