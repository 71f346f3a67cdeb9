// The members of the communicators of a torch.profiler file, from its kernels and from the file's
// other facts.
#include "tests/ingest/import/import_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

using nlohmann::json;

class ProcessGroups : public ImportTest {
 protected:
  // A file of one rank, with an all-reduce for each of the arguments, after its list of groups.
  static json fileOf(int rank, const std::vector<json>& calls, const json& config) {
    json events = json::array();
    for (const json& call : calls) {
      json args = {{"device", 0}, {"stream", 7}, {"dtype", "Float"}, {"In msg nelems", 10}};
      args.update(call);
      events.push_back({{"ph", "X"},
                        {"cat", "kernel"},
                        {"name", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
                        {"pid", 0},
                        {"tid", 7},
                        {"ts", 10 * events.size()},
                        {"dur", 5},
                        {"args", std::move(args)}});
    }
    return {{"distributedInfo", {{"rank", rank}, {"world_size", 4}, {"pg_config", config}}},
            {"traceEvents", std::move(events)}};
  }
  void import(const std::vector<std::string>& texts) {
    std::vector<std::filesystem::path> files;
    for (const std::string& text : texts) {
      files.emplace_back(folder_ / fmt::format("rank{}.json", files.size()));
      test::writeText(files.back().string(), text);
    }
    const auto imported = importFiles(files);
    ASSERT_TRUE(imported) << imported.error().message;
  }
  std::string members() {
    return rows(
        "SELECT p.rank || '|' || m.position || '|' || m.rank || '|' || coalesce(m.process_id = "
        "p.id, '') AS concat_row FROM communicator_member m JOIN communicator g ON g.id = "
        "m.communicator_id JOIN process p ON p.id = g.process_id ORDER BY p.rank, g.id, "
        "m.position");
  }
  std::string communicators() {
    return rows(
        "SELECT p.rank || '|' || job_key || '|' || size || '|' || coalesce(position, '') AS "
        "concat_row FROM communicator g JOIN process p ON p.id = g.process_id ORDER BY p.rank, "
        "g.id");
  }
};

const json kCall = {
    {"Process Group Name", "9"}, {"Process Group Ranks", "[3, 1, ..., 2]"}, {"Group size", 3}};
const json kNamed = json::object({{"Process Group Name", "9"}});
const json kGroup = {{"pg_name", "9"}, {"pg_size", 3}, {"ranks", {3, 1, 2}}};
const json kConfig = json::array({kGroup});

TEST_F(ProcessGroups, AShortenedListIsTakenFromTheFilesOwnWhereverThatStands) {
  const json other = {{"pg_name", "0"}, {"pg_size", 4}, {"ranks", {0, 1, 2, 3}}};
  const json first = fileOf(1, {kCall}, {other, kGroup});
  const json second = fileOf(2, {kCall}, {other, kGroup});
  const std::string behind = R"({"traceEvents": )" + second["traceEvents"].dump() +
                             R"(, "distributedInfo": )" + second["distributedInfo"].dump() + "}";
  import({first.dump(), behind});
  EXPECT_EQ(communicators(), "1|9[3,1,2]|3|1 2|9[3,1,2]|3|2");
  EXPECT_EQ(members(), "1|0|3| 1|1|1|1 1|2|2| 2|0|3| 2|1|1| 2|2|2|1");
}

TEST_F(ProcessGroups, AListThatIsMissingIsTakenFromTheFilesOwn) {
  import({fileOf(3, {kNamed}, kConfig).dump()});
  EXPECT_EQ(communicators(), "3|9[3,1,2]|3|0");
  EXPECT_EQ(members(), "3|0|3|1 3|1|1| 3|2|2|");
}

TEST_F(ProcessGroups, AKernelsOwnListComesFirst) {
  json call = kCall;
  call["Process Group Ranks"] = "[2, 0, 1]";
  import({fileOf(1, {call}, kConfig).dump()});
  EXPECT_EQ(communicators(), "1|9[2,0,1]|3|2");
}

TEST_F(ProcessGroups, AGroupOfAnotherSizeIsNotThisOne) {
  json call = kCall;
  call["Group size"] = 2;
  import({fileOf(1, {call}, kConfig).dump()});
  EXPECT_EQ(communicators(), "1|9[]|2|");
  EXPECT_EQ(members(), "");
}

TEST_F(ProcessGroups, KernelsWithAndWithoutAListShareTheirGroup) {
  json whole = kCall;
  whole["Process Group Ranks"] = "[3, 1, 2]";
  import({fileOf(1, {whole, kCall, kNamed}, kConfig).dump()});
  EXPECT_EQ(communicators(), "1|9[3,1,2]|3|1");
  EXPECT_EQ(rows("SELECT seq || '' AS concat_row FROM collective ORDER BY start_ns"), "0 1 2");
}

TEST_F(ProcessGroups, WhatIsNotAsItShouldBeIsPassedOver) {
  const auto with = [](const char* key, const json& value) {
    json group = kGroup;
    group[key] = value;
    return json::array({group});
  };
  json longer = kGroup;
  longer.update({{"ranks", {3, 1, 2, "0"}}, {"pg_size", 4}});
  for (const json& config : {json(5),
                             json::object(),
                             json::array({5, nullptr, json::array(), json::object()}),
                             with("pg_name", 9),
                             with("ranks", "3, 1, 2"),
                             with("ranks", {3, 1, "2"}),
                             with("ranks", {3, 1, 1.5}),
                             with("ranks", {3, 1, 18446744073709551615U}),
                             with("pg_size", 4),
                             json::array({longer})}) {
    SCOPED_TRACE(config.dump());
    import({fileOf(1, {kCall}, config).dump()});
    EXPECT_EQ(communicators(), "1|9[]|3|");
    EXPECT_EQ(members(), "");
  }
  import({fileOf(1, {kCall}, with("pg_size", "many")).dump()});
  EXPECT_EQ(communicators(), "1|9[3,1,2]|3|1");
}

TEST_F(ProcessGroups, BytesThatDoNotFitAreNone) {
  json call = kCall;
  call["Out msg nelems"] = 4'611'686'018'427'387'904;
  import({fileOf(1, {call}, kConfig).dump()});
  EXPECT_EQ(rows("SELECT send_bytes || '|' || coalesce(recv_bytes, '') AS concat_row FROM "
                 "collective"),
            "40|");
}

}  // namespace
}  // namespace sonde::ingest
