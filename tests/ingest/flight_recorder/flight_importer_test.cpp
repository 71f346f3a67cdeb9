#include "analysis/ingest/flight_recorder/flight_importer.h"

#include "tests/ingest/import/import_fixture.h"
#include "tests/support/flight_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde::ingest {
namespace {

using sonde::test::FlightCall;
using sonde::test::FlightDump;
using sonde::test::kFlightNs;
using ::testing::Contains;
using ::testing::HasSubstr;

class FlightImporterTest : public ImportTest {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& text) {
    test::writeText(folder_ / name, text);
    return folder_ / name;
  }
  void mustImport(const std::vector<std::filesystem::path>& files) {
    const auto imported = importFiles(files);
    ASSERT_TRUE(imported) << imported.error().message;
  }
  std::string refusal(const std::string& name, const std::string& text) {
    const auto imported = importFiles({file(name, text)});
    return imported ? "imported" : imported.error().message;
  }
};

FlightDump twoRanks() {
  FlightDump dump;
  dump.group("0", "[0, 1]", "default_pg").status("0", 6, 4);
  return dump;
}

TEST_F(FlightImporterTest, EntriesAreCollectivesOfTheirGroups) {
  FlightDump dump = twoRanks();
  dump.call({.seq = 5,
             .name = "nccl:_all_gather_base",
             .state = "completed",
             .output = "[[2,4,4]]",
             .inputType = "BFloat16",
             .outputType = "BFloat16",
             .completedNs = kFlightNs + 700})
      .call({.seq = 6, .state = "started"});
  mustImport({file("nccl_trace_rank_1", dump.text())});
  EXPECT_EQ(rows("SELECT op || '|' || seq || '|' || dtype || '|' || bytes || '|' || send_bytes ||"
                 " '|' || recv_bytes || '|' || (start_ns - 1780000000000000000) || '|' ||"
                 " coalesce(dur_ns, 'open') AS concat_row FROM collective ORDER BY id"),
            "allgather|5|bfloat16|64|32|64|0|700 allreduce|6|float32|64|64|64|1000|open");
  EXPECT_EQ(rows("SELECT rank || '|' || world_size || '|' || a.value AS concat_row FROM process p"
                 " JOIN arg a ON a.owner = 'process' AND a.owner_id = p.id"),
            "1|2|2.9");
  EXPECT_EQ(rows("SELECT job_key || '|' || size || '|' || position || '|' || backend AS concat_row"
                 " FROM communicator"),
            "default_pg 0|2|1|nccl");
  EXPECT_EQ(rows("SELECT position || ':' || rank || ':' || coalesce(process_id, '-') AS concat_row"
                 " FROM communicator_member ORDER BY position"),
            "0:0:- 1:1:1");
  EXPECT_EQ(rows("SELECT k.text || '=' || a.value AS concat_row FROM arg a JOIN string k ON k.id ="
                 " a.key_id WHERE a.owner = 'communicator' ORDER BY k.text"),
            "last_completed=5 last_dropped=4 last_enqueued=6");
  EXPECT_EQ(rows("SELECT probe || '|' || kind || '|' || count || '|' || reason AS concat_row FROM "
                 "loss"),
            "import|default_pg 0|4|ring");
  EXPECT_EQ(summary_.read.at("collective"), 2U);
}

TEST_F(FlightImporterTest, CompletedWithoutATimeHasNoEndButIsNotOpen) {
  FlightDump dump = twoRanks();
  dump.call({.seq = 1, .state = "completed"});
  mustImport({file("_dump_0", dump.text())});
  EXPECT_EQ(rows("SELECT coalesce(dur_ns, 'NULL') || '|' || a.value AS concat_row FROM collective c"
                 " JOIN arg a ON a.owner_id = c.id AND a.owner = 'collective' JOIN string k ON k.id"
                 " = a.key_id AND k.text = 'completed'"),
            "NULL|1");
  EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM loss"), "0");
}

TEST_F(FlightImporterTest, SendsAndReceivesHaveAPeer) {
  FlightDump dump;
  dump.group("3", "[0, 4, 8, 12]", "PIPELINE")
      .call({.seq = 26, .name = "nccl:send 0->3", .group = "3", .messages = 9});
  dump.call({.seq = 26, .name = "nccl:recv 0<-2", .group = "3", .messages = 10});
  dump.call({.seq = 26, .name = "nccl:coalesced", .group = "3", .messages = 10});
  mustImport({file("_dump_0", dump.text())});
  EXPECT_EQ(rows("SELECT op || '|' || peer || '|' || coalesce(seq, 'NULL') AS concat_row FROM "
                 "collective ORDER BY id"),
            "send|3|NULL receive|2|NULL");
  EXPECT_EQ(summary_.dropped.at("not kept"), 1U);
  EXPECT_EQ(summary_.read.at("message"), 2U);
}

TEST_F(FlightImporterTest, BytesOfGatherAndScatterAreTheWhole) {
  FlightDump dump = twoRanks();
  dump.call({.seq = 1, .name = "nccl:gather", .output = "[]"})
      .call({.seq = 2, .name = "nccl:scatter", .input = "[[4,4],[4,4]]"})
      .call({.seq = 3, .name = "nccl:_reduce_scatter_base", .input = "[[8,4]]"});
  mustImport({file("_dump_0", dump.text())});
  EXPECT_EQ(rows("SELECT op || '|' || bytes AS concat_row FROM collective ORDER BY id"),
            "gather|128 scatter|128 reducescatter|128");
}

TEST_F(FlightImporterTest, StatusIsFoundByTheEntriesLocalId) {
  FlightDump dump;
  dump.group("0", "[0, 1]", "default_pg").group("7", "[0, 1]", "other");
  dump.json()["pg_status"] = {{"10", {{"last_completed_collective", 99}}},
                              {"7", {{"last_completed_collective", 55}}},
                              {"17", {{"last_completed_collective", 3}}}};
  dump.call({.seq = 4, .group = "7"});
  mustImport({file("_dump_0", dump.text())});
  EXPECT_EQ(
      rows("SELECT m.job_key || '=' || a.value AS concat_row FROM communicator m JOIN arg a ON"
           " a.owner = 'communicator' AND a.owner_id = m.id JOIN string k ON k.id = a.key_id"
           " WHERE k.text = 'last_completed'"),
      "other 7=3");
}

TEST_F(FlightImporterTest, TheRankIsInTheNameOrInAllGroups) {
  const auto rankOf = [&](const std::string& name) {
    FlightDump dump;
    dump.group("0", "[0, 1, 2, 3]", "default_pg")
        .group("1", "[1, 3]", "a")
        .group("2", "[2, 3]", "b");
    mustImport({file(name, dump.text())});
    return rows("SELECT coalesce(rank, 'none') AS concat_row FROM process");
  };
  EXPECT_EQ(rankOf("nccl_trace_rank_3"), "3");
  EXPECT_EQ(rankOf("_dump_3"), "3");
  EXPECT_EQ(rankOf("whatever"), "3");
  EXPECT_EQ(rankOf("dump_7.json"), "3");  // not a member: a number of something else
  FlightDump dump = twoRanks();
  mustImport({file("whatever", dump.text())});
  EXPECT_EQ(rows("SELECT coalesce(rank, 'none') AS concat_row FROM process"), "none");
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("give the rank")));
}

// Two groups of other ranks have the name 1.
TEST_F(FlightImporterTest, EqualNamesOfOtherGroupsStayApart) {
  const auto dump = [](const char* ranks) {
    FlightDump one;
    one.group("0", "[0, 1, 2, 3]", "default_pg").group("1", ranks, "TP").call({.group = "1"});
    return one.text();
  };
  mustImport({file("_dump_0", dump("[0, 1]")),
              file("_dump_1", dump("[0, 1]")),
              file("_dump_2", dump("[2, 3]")),
              file("_dump_3", dump("[2, 3]"))});
  EXPECT_EQ(
      rows("SELECT p.rank || ':' || m.job_key AS concat_row FROM communicator m JOIN process p"
           " ON p.id = m.process_id WHERE m.size = 2 ORDER BY p.rank"),
      "0:TP 1 1:TP 1 2:TP 1 [2, 3] 3:TP 1 [2, 3]");
}

TEST_F(FlightImporterTest, FramesAreStacksOfEvents) {
  FlightDump dump = twoRanks();
  dump.call({.seq = 1}).call({.seq = 2});
  for (auto& entry : dump.json()["entries"])
    entry["frames"] = {{{"name", "all_reduce"}, {"filename", "torch/distributed.py"}, {"line", 9}},
                       {{"name", "main"}, {"filename", "train.py"}, {"line", 40}}};
  mustImport({file("_dump_0", dump.text())});
  EXPECT_EQ(rows("SELECT n.text || ':' || f.text || ':' || line || ':' || kind AS concat_row FROM"
                 " frame JOIN string n ON n.id = name_id JOIN string f ON f.id = path_id ORDER BY"
                 " frame.id"),
            "main:train.py:40:python all_reduce:torch/distributed.py:9:python");
  EXPECT_EQ(rows("SELECT stack_id || '|' || kind || '|' || weight AS concat_row FROM stack_sample"),
            "2|event|0 2|event|0");
}

TEST_F(FlightImporterTest, OldAndOtherFormsAreRead) {
  FlightDump dump("2.0");
  dump.json().erase("pg_status");
  dump.group("0", "", "default_pg");
  dump.json()["pg_config"]["0"]["ranks"] = {0, 1};
  dump.call({.seq = 7, .state = "completed"}).call({.seq = 8});
  dump.json()["entries"][1]["process_group"] = "0";
  dump.json()["entries"][1]["collective_seq_id"] = "8";
  mustImport({file("_dump_1", dump.text())});
  EXPECT_EQ(rows("SELECT seq AS concat_row FROM collective"), "7 8");
  EXPECT_EQ(rows("SELECT size || '|' || position AS concat_row FROM communicator"), "2|1");
  EXPECT_EQ(rows("SELECT a.value AS concat_row FROM arg a JOIN string k ON k.id = a.key_id WHERE"
                 " k.text = 'last_completed'"),
            "7");
  dump.json()["version"] = "2.11";
  mustImport({file("_dump_1", dump.text())});
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("newer than 2.10")));
}

TEST_F(FlightImporterTest, RefusesWhatIsNoDump) {
  FlightDump old("1.5");
  old.group("0", "[0, 1]", "default_pg").call({});
  EXPECT_THAT(refusal("_dump_0", old.text()), HasSubstr("of version '1.5'"));
  EXPECT_THAT(refusal("_dump_0", R"({"version": "2.4", "pg_config": {}, "entries": []})"),
              HasSubstr("neither entries nor groups"));
  FlightDump broken = twoRanks();
  broken.call({});
  broken.json()["entries"][0].erase("state");
  EXPECT_THAT(refusal("_dump_0", broken.text()),
              HasSubstr("none of its 1 entries can be read; the first is entry 0, which has no "
                        "state"));
  EXPECT_THAT(refusal("x", std::string("\x80\x02}q\x00(X\x01\x00\x00\x00kK\x01u.", 16)),
              HasSubstr("neither"));
  EXPECT_THAT(refusal("x", "\x80\x02NN\x81."), HasSubstr("NEWOBJ at byte 4"));
  const FlightDump dump = twoRanks();
  const auto twice = importFiles({file("_dump_1", dump.text()), file("a_dump_1", dump.text())});
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("are both rank 1"));
}

TEST_F(FlightImporterTest, UnreadableEntriesAreCounted) {
  FlightDump dump = twoRanks();
  dump.call({.seq = 1}).call({.seq = 2}).call({.seq = 3}).call({.seq = 4, .name = "nccl:magic"});
  dump.json()["entries"][0].erase("time_created_ns");
  dump.json()["entries"][1]["time_created_ns"] = -5;
  mustImport({file("_dump_0", dump.text())});
  EXPECT_EQ(rows("SELECT seq AS concat_row FROM collective"), "3");
  EXPECT_EQ(summary_.dropped.at("unreadable"), 1U);
  EXPECT_EQ(summary_.dropped.at("no time"), 1U);
  EXPECT_EQ(summary_.dropped.at("not supported"), 1U);
}

// A pickle of Python 3: {'version': '2.9', 'entries': [], 'pg_config': {'0': {'name': '0', 'desc':
// 'default_pg', 'ranks': '[0, 1]'}}}, protocol 2.
TEST_F(FlightImporterTest, ReadsPickles) {
  using namespace std::string_literals;
  const auto text = [](const std::string& value) {
    return "X"s + static_cast<char>(value.size()) + "\0\0\0"s + value;
  };
  const std::string pickle = "\x80\x02}q\0("s + text("version") + text("2.9") + text("entries") +
                             "]" + text("pg_config") + "}" + text("0") + "}(" + text("name") +
                             text("0") + text("desc") + text("default_pg") + text("ranks") +
                             text("[0, 1]") + "usu.";
  mustImport({file("any.name.rank1", pickle)});
  EXPECT_EQ(rows("SELECT rank || '|' || world_size AS concat_row FROM process"), "1|2");
  for (std::size_t size = 1; size < pickle.size(); ++size) {
    const auto cut = importFiles({file("cut", pickle.substr(0, size))});
    ASSERT_FALSE(cut) << size;
    EXPECT_THAT(cut.error().message, HasSubstr("cut'"));
  }
}

}  // namespace
}  // namespace sonde::ingest
