#include "tests/ingest/trace_event/trace_event_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sonde::ingest {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST_F(TraceEventImporterTest, KeepsTimesToTheNanosecondWhereverTheBaseStands) {
  importEvents({spanOf("cpu_op", "aten::add", R"("ts": 1712195495519689.123, "dur": 63.813)")},
               R"(], "baseTimeNanoseconds": 1000000000000000007})");
  EXPECT_EQ(rows("SELECT start_ns || '|' || dur_ns AS concat_row FROM slice"),
            "2712195495519689130|63813");
}

TEST_F(TraceEventImporterTest, RanksAreReadFromDamagedTextsOrSaidToBeMissing) {
  const std::string span = spanOf("cpu_op", "a", R"("ts": 1, "dur": 1)");
  importEvents({span}, "], \"distributedInfo\": {\"backend\": \"n\xff\", \"rank\": 3}}");
  EXPECT_EQ(rows("SELECT rank AS concat_row FROM process"), "3");
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("1 bytes that are invalid in JSON")));
  importEvents({span}, R"(], "distributedInfo": {"rank": "3"}})");
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("the rank of the file is unknown")));
}

TEST_F(TraceEventImporterTest, SaysThatFilesAreFarApart) {
  const auto file = [](const char* ts) {
    return std::string(kHead) + spanOf("c", "a", std::string(R"("dur": 5, "ts": )") + ts) + "]}";
  };
  ASSERT_TRUE(import({file("200000000"), file("100000000"), file("145000000")}));
  EXPECT_THAT(summary_.warnings, IsEmpty());
  ASSERT_TRUE(import({file("200000000"), file("100000000"), file("135000000")}));
  EXPECT_THAT(summary_.warnings, ElementsAre(HasSubstr("rank0.json' are 65.0 s apart")));
}

TEST_F(TraceEventImporterTest, RefusesTimesWhoseSumWithTheBaseMayNotFit) {
  const std::string most = R"("ts": 2305843009213693.951, "dur": 0)";
  const std::string beyond = R"("ts": 2305843009213693.952, "dur": 0)";
  importEvents({spanOf("cpu_op", "latest", most),
                spanOf("cpu_op", "late", beyond),
                spanOf("cpu_op", "ends late", R"("ts": 2305843009213693.951, "dur": 0.001)"),
                spanOf("kernel", "early", R"("ts": -2305843009213693.952, "dur": 0)"),
                R"({"ph": "C", "name": "c", "pid": 1, "ts": 9e15, "args": {"x": 1}})"},
               R"(], "baseTimeNanoseconds": 2305843009213693951})");
  EXPECT_EQ(rows("SELECT start_ns || '' AS concat_row FROM slice"), "4611686018427387902");
  EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss"), "no time|4");
}

TEST_F(TraceEventImporterTest, LeavesOutABaseThatIsNoTime) {
  const std::string list = "[" + std::string(100, '1') + "]";
  for (const auto& [base, said] : {std::pair<std::string, std::string>{"2305843009213693952", ""},
                                   {"-9200000000000000000", ""},
                                   {"1e300 ", "1e300"},
                                   {"\"soon\"", ""},
                                   {"{\n}", "{ }"},
                                   {list, list.substr(0, 40) + "…"}}) {
    SCOPED_TRACE(base);
    importEvents({spanOf("cpu_op", "n", R"("ts": 2305843009213693.951, "dur": 0)")},
                 std::string(R"(], "baseTimeNanoseconds": )") + base + "}");
    EXPECT_EQ(rows("SELECT start_ns || '' AS concat_row FROM slice"), "2305843009213693951");
    EXPECT_THAT(
        summary_.warnings,
        ElementsAre(HasSubstr(
            "baseTimeNanoseconds " + (said.empty() ? base : said) +
            " is not a whole number of nanoseconds within ±2^61: times are relative to the file")));
  }
}

TEST_F(TraceEventImporterTest, TakesABaseInQuotes) {
  importEvents({spanOf("cpu_op", "n", R"("ts": 1, "dur": 0)")},
               R"(], "baseTimeNanoseconds": "1000000000000000007" })");
  EXPECT_EQ(rows("SELECT start_ns || '' AS concat_row FROM slice"), "1000000000000001007");
  EXPECT_THAT(summary_.warnings, IsEmpty());
}

TEST_F(TraceEventImporterTest, TellsKindsByCategoryAndName) {
  importEvents({spanOf("user_annotation", "ProfilerStep#7", R"("ts": 0, "dur": 100)"),
                spanOf("user_annotation", "Optimizer.step#SGD.step", R"("ts": 1, "dur": 10)"),
                spanOf("user_annotation", "nccl:all_reduce", R"("ts": 20, "dur": 10)"),
                spanOf("user_annotation", "mine", R"("ts": 40, "dur": 10)"),
                spanOf("cpu_op", "aten::mm", R"("ts": 60, "dur": 5)"),
                spanOf("cuda_runtime", "cudaLaunchKernel", R"("ts": 61, "dur": 1)"),
                spanOf("python_function", "f", R"("ts": 70, "dur": 5)"),
                spanOf("gpu_user_annotation", "mine", R"("ts": 40, "dur": 10)"),
                R"({"ph": "i", "name": "here", "pid": 100, "tid": 101, "ts": 80, "s": "t"})"});
  EXPECT_EQ(rows("SELECT kind || '|' || depth AS concat_row FROM slice ORDER BY start_ns"),
            "iteration|0 optimizer|1 collective|1 operation|1 operator|1 api|2 python|1 mark|1");
  EXPECT_EQ(rows("SELECT number || '|' || dur_ns AS concat_row FROM iteration"), "7|100000");
  EXPECT_EQ(summary_.dropped.at("not kept"), 1U);
}

TEST_F(TraceEventImporterTest, TiesForwardToBackward) {
  importEvents({spanOf("cpu_op", "outer", R"("ts": 0, "dur": 50)"),
                spanOf("cpu_op", "forward", R"("ts": 10, "dur": 10)"),
                spanOf("cpu_op", "backward", R"("ts": 60, "dur": 10)"),
                R"({"ph": "f", "id": 3, "pid": 100, "tid": 101, "ts": 60, "cat": "fwdbwd",
                    "name": "fwdbwd", "bp": "e"})",
                R"({"ph": "s", "id": 3, "pid": 100, "tid": 101, "ts": 10, "cat": "fwdbwd",
                    "name": "fwdbwd"})"});
  EXPECT_EQ(rows("SELECT a.text || '|' || b.text AS concat_row FROM link l "
                 "JOIN slice f ON f.id = l.from_id JOIN string a ON a.id = f.name_id "
                 "JOIN slice t ON t.id = l.to_id JOIN string b ON b.id = t.name_id"),
            "forward|backward");
}

TEST_F(TraceEventImporterTest, MakesACounterOfEachNumber) {
  importEvents({eventOf('C', "memory", R"("ts": 2, "args": {"used": 7, "free": 1.5, "x": "y"})"),
                eventOf('C', "memory", R"("ts": 1, "args": {"used": 6})"),
                eventOf('C', "nothing", R"("ts": 1, "args": {})")},
               R"(], "baseTimeNanoseconds": 100})");
  EXPECT_EQ(rows("SELECT name || ' ' || ts_ns || '=' || value AS concat_row FROM v_sample "
                 "ORDER BY name, ts_ns"),
            "memory free 2100=1.5 memory used 1100=6.0 memory used 2100=7.0");
  EXPECT_EQ(summary_.dropped.at("not kept"), 1U);
}

TEST_F(TraceEventImporterTest, CountsNumbersOfCountersThatCannotBeRead) {
  const std::string first = eventOf('C', "m", R"("ts": 2, "args": {"a": 1e999, "b": 2})");
  importEvents({first, eventOf('C', "m", R"("ts": 3, "args": {"b": NaN})")});
  EXPECT_EQ(rows("SELECT name || '=' || value AS concat_row FROM v_sample"), "m b=2.0");
  EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss"), "unreadable value|2");
  EXPECT_THAT(
      summary_.warnings,
      Contains(HasSubstr("the counter 'm' at byte " + std::to_string(std::string(kHead).size()) +
                         ", with a number that cannot be read")));
}

// The slice "a" lies from 0 to 5, "b" from 10 to 15.
TEST_F(TraceEventImporterTest, CountsEndsOfArrowsThatAreInNoLink) {
  const auto arrow = [](char phase, int us, const std::string& id) {
    return eventOf(phase, "arrow", fmt::format(R"("ts": {}, "bp": "e"{})", us, id));
  };
  const auto numbered = [&](char phase, int us, int id) {
    return arrow(phase, us, fmt::format(R"(, "id": {})", id));
  };
  importEvents(
      {spanOf("cpu_op", "a", R"("ts": 0, "dur": 5)"),
       spanOf("cpu_op", "b", R"("ts": 10, "dur": 5)"),
       numbered('s', 1, 1),
       numbered('f', 11, 1),
       numbered('f', 20, 1),  // 1: at no slice
       numbered('f', 11, 2),  // 2: without a start
       numbered('s', 1, 3),   // 3: without a finish
       numbered('s', 1, 4),   // 4: another start comes
       numbered('s', 2, 4),
       numbered('t', 11, 4),
       numbered('f', 1, 5),  // 5: before its only start, which is
       numbered('s', 7, 5),  // 6: at no slice
       numbered('s', 7, 6),  // 7: at no slice, so that
       numbered('t', 10, 6),
       numbered('f', 11, 6),
       numbered('s', 7, 7),                 // 8: at no slice, so that
       numbered('f', 11, 7),                // 9: this has no other end
       arrow('s', 1, ""),                   // 10
       arrow('s', 1, R"(, "bind_id": 7)"),  // 11
       spanOf("cpu_op", "c", R"("ts": 30, "dur": 1, "bind_id": "0x7", "flow_out": true)"),
       R"({"ph": "s", "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 1, "id": 9})"});
  EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM link"), "3");
  EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss"), "no link|12");
  EXPECT_EQ(summary_.dropped.at("no link"), 12U);
  const std::string before = std::string(kHead) + spanOf("cpu_op", "a", R"("ts": 0, "dur": 5)") +
                             spanOf("cpu_op", "b", R"("ts": 10, "dur": 5)") + numbered('s', 1, 1) +
                             numbered('f', 11, 1);
  const std::size_t separators = 4 * std::string(",\n").size();
  EXPECT_THAT(summary_.warnings,
              ElementsAre(AllOf(
                  HasSubstr("12 ends of arrows have no link"),
                  HasSubstr(fmt::format("the first is at byte {}", before.size() + separators)))));
}

TEST_F(TraceEventImporterTest, TellsCountersOfOneNameApartByTheirId) {
  importEvents({eventOf('C', "q", R"("ts": 1, "id": 1, "args": {"value": 11})"),
                eventOf('C', "q", R"("ts": 1, "id": "0x2", "args": {"value": 21})"),
                eventOf('C', "q", R"("ts": 2, "id": 1, "args": {"value": 12, "other": 13})"),
                eventOf('C', "q", R"("ts": 3, "args": {"value": 3})")});
  EXPECT_EQ(rows("SELECT name || '@' || ts_ns || '=' || value AS concat_row FROM v_sample "
                 "ORDER BY name, ts_ns"),
            "q@3000=3.0 q id: 0x2@1000=21.0 q id: 1@1000=11.0 q id: 1@2000=12.0 "
            "q id: 1 other@2000=13.0");
}

TEST_F(TraceEventImporterTest, ManyCategoriesStayApart) {
  constexpr int kCategories = 70'000;
  std::vector<std::string> events;
  for (int number = 0; number < kCategories; ++number)
    events.push_back(spanOf(
        "c" + std::to_string(number), "x", R"("ts": )" + std::to_string(number) + R"(, "dur": 0)"));
  importEvents(events);
  EXPECT_EQ(
      rows("SELECT count(*) AS concat_row FROM slice WHERE category = 'c' || (start_ns / 1000)"),
      std::to_string(kCategories));
}

TEST_F(TraceEventImporterTest, NamesTellAnnotationsAmongOperatorsOfOldFiles) {
  importEvents({spanOf("Operator", "ProfilerStep#4", R"("ts": 0, "dur": 100)"),
                spanOf("Operator", "Optimizer.step#SGD.step", R"("ts": 10, "dur": 10)"),
                spanOf("cpu_op", "nccl:all_reduce", R"("ts": 30, "dur": 10)"),
                spanOf("Operator", "aten::add", R"("ts": 50, "dur": 10)")});
  EXPECT_EQ(rows("SELECT kind AS concat_row FROM slice ORDER BY start_ns"),
            "iteration optimizer collective operator");
  EXPECT_EQ(rows("SELECT number AS concat_row FROM iteration"), "4");
}

TEST_F(TraceEventImporterTest, RefusesFilesThatContradictEachOther) {
  const auto rank = [](int number, int world) {
    return kHead + spanOf("cpu_op", "a", R"("ts": 1, "dur": 1)") +
           R"(], "distributedInfo": {"rank": )" + std::to_string(number) + R"(, "world_size": )" +
           std::to_string(world) + "}}";
  };
  const auto twice = import({rank(0, 2), rank(0, 2)});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("are both rank 0"), std::string::npos);
  std::filesystem::remove(folder_ / "t.sonde");
  EXPECT_FALSE(import({rank(0, 2), rank(1, 4)}));
}

TEST_F(TraceEventImporterTest, ImportsWhatIsGoodAndCountsTheRest) {
  importEvents({spanOf("cpu_op", "good", R"("ts": 1, "dur": 1)"),
                spanOf("cpu_op", "far", R"("ts": 1e300, "dur": 1)"),
                spanOf("cpu_op", "none", R"("ts": "soon", "dur": 1)"),
                spanOf("cpu_op", "long", R"("ts": 9000000000000000, "dur": 9000000000000000)"),
                spanOf("cpu_op", "back", R"("ts": 3, "dur": -5)"),
                R"({"ph": "X", "name": "broken", "ts": 5, "dur": })",
                R"("no event")",
                "{}",
                spanOf("cpu_op", "last", R"("ts": 7, "dur": 1)")});
  EXPECT_EQ(rows("SELECT n.text || '|' || s.dur_ns AS concat_row FROM slice s "
                 "JOIN string n ON n.id = s.name_id ORDER BY s.start_ns"),
            "good|1000 back|0 last|1000");
  EXPECT_EQ(summary_.dropped.at("no time"), 3U);
  EXPECT_GE(summary_.dropped.at("unreadable"), 1U);
  EXPECT_FALSE(summary_.warnings.empty());
}

TEST_F(TraceEventImporterTest, CountsWhatIsNotInTheTrace) {
  importEvents({spanOf("cpu_op", "a", R"("ts": 1, "dur": 1)"),
                spanOf("gpu_user_annotation", "a", R"("ts": 1, "dur": 1)"),
                eventOf('S', "old", R"("ts": 1, "id": 1)"),
                eventOf('F', "old", R"("ts": 2, "id": 1)"),
                R"({"ph": "M", "name": "process_name", "args": {"name": "p"}})",
                eventOf('i', "mark", R"("ts": 3)"),
                eventOf('s', "flow", R"("ts": 3, "id": 1)"),
                spanOf("cpu_op", "b", R"("ts": "soon", "dur": 1)")});
  EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss ORDER BY 1"),
            "no link|1 no time|1 not supported|2");
  EXPECT_EQ(summary_.kept, 2U);
  EXPECT_EQ(summary_.read.at("c"), 4U);
  EXPECT_THAT(
      summary_.dropped,
      ElementsAre(
          Pair("no link", 1), Pair("no time", 1), Pair("not kept", 1), Pair("not supported", 2)));
  EXPECT_THAT(summary_.warnings,
              Contains(HasSubstr("2 events have phases that are not imported (F, S)")));
}

TEST_F(TraceEventImporterTest, SaysWhatFollowsTheEndOfTheText) {
  const std::string first = kHead + spanOf("cpu_op", "a", R"("ts": 1, "dur": 1)") + "]}";
  for (const auto& [text, byte] :
       {std::pair{first + "\n" + first, first.size() + 1},
        {"[" + spanOf("cpu_op", "a", R"("ts": 1, "dur": 1)") + "] []", first.size() - 36}}) {
    ASSERT_TRUE(import({text}));
    EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM slice"), "1");
    EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss"), "cut short|1");
    EXPECT_THAT(summary_.warnings,
                ElementsAre(HasSubstr("there is data after the end of its JSON text at byte " +
                                      std::to_string(byte) + ";")));
  }
}

TEST_F(TraceEventImporterTest, CountsValuesOfWrongTypesWithThePlaceOfTheFirst) {
  const std::string good = spanOf("cpu_op", "a", R"("ts": 1, "dur": 1)", R"({"correlation": "x"})");
  importEvents({good,
                spanOf("kernel",
                       "k",
                       R"("ts": 2, "dur": 1)",
                       R"({"stream": "abc", "device": [1], "correlation": {}, "grid": [1, "b", 1],
                  "block": null, "bytes": "0x7", "Group size": true})"),
                R"({"ph": "X", "name": ["no text"], "pid": {}, "tid": null, "ts": 5, "dur": 1})"});
  EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss"), "unreadable value|7");
  const std::size_t place = std::string(kHead).size() + good.size() + 2;
  EXPECT_THAT(
      summary_.warnings,
      ElementsAre(HasSubstr("7 values cannot be read, and their events are kept without "
                            "them; the first is in the event at byte " +
                            std::to_string(place) + ", whose \"correlation\" has the wrong type")));
  EXPECT_EQ(rows("SELECT bytes || '|' || (correlation_id IS NULL) AS concat_row FROM kernel"),
            "7|1");
}

TEST_F(TraceEventImporterTest, PlacesAreThoseOfTheFileAlsoBehindARepair) {
  const std::string good = spanOf("cpu_op", std::string(8, '\xFF') + "\n", R"("ts": 1, "dur": 1)");
  const std::string wrong = spanOf("cuda_runtime", "c", R"("ts": 2)", R"({"correlation": []})");
  importEvents({good, wrong, "17"});
  const std::size_t begin = std::string(kHead).size();
  const std::size_t second = begin + good.size() + 2;
  EXPECT_THAT(
      summary_.warnings,
      ElementsAre(HasSubstr("the first is the event at byte " +
                            std::to_string(second + wrong.size() + 1) + ": "),
                  HasSubstr("the event at byte " + std::to_string(second) + ","),
                  HasSubstr("9 bytes that are invalid in JSON were replaced; the first is byte " +
                            std::to_string(begin + good.find('\xFF')))));
}

TEST_F(TraceEventImporterTest, RepairsNamesThatAreNoText) {
  importEvents({spanOf("cpu_op", "caf\xC3", R"("ts": 1, "dur": 1)"),
                spanOf("cpu_op", "two\nlines", R"("ts": 3, "dur": 1)")});
  EXPECT_EQ(rows("SELECT n.text AS concat_row FROM slice s JOIN string n ON n.id = s.name_id "
                 "ORDER BY s.start_ns"),
            "caf\xEF\xBF\xBD two lines");
}

TEST_F(TraceEventImporterTest, ImportsTheWholeEventsOfAFileThatIsCutShort) {
  importEvents({spanOf("cpu_op", "whole", R"("ts": 1, "dur": 1)"),
                spanOf("cpu_op", "cut", R"("ts": 3, "dur": 1)")},
               "");
  EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM slice"), "2");
  ASSERT_EQ(summary_.warnings.size(), 1U);
  EXPECT_NE(summary_.warnings.front().find("cut short"), std::string::npos);
}

}  // namespace
}  // namespace sonde::ingest
