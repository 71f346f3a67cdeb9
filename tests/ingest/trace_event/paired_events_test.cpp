// Items that a Trace Event file writes as several records: events by begin and end, and arrows.
#include "tests/ingest/trace_event/trace_event_fixture.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sonde::ingest {
namespace {

using PairedEventsTest = TraceEventImporterTest;

constexpr const char* kLinks =
    "SELECT (SELECT start_ns FROM slice WHERE id = from_id) || '>' || "
    "(SELECT start_ns FROM slice WHERE id = to_id) AS concat_row FROM link ORDER BY 1";

TEST_F(PairedEventsTest, PairsBeginsWithEnds) {
  importEvents({eventOf('B', "outer", R"("ts": 1)"),
                eventOf('B', "inner", R"("ts": 2, "args": {"a": 1})"),
                eventOf('E', "", R"("ts": 4, "args": { })"),
                eventOf('E', "", R"("ts": 10, "args": {"b": 2})"),
                eventOf('E', "", R"("ts": 11)"),
                eventOf('B', "open", R"("ts": 20)")});
  EXPECT_EQ(
      rows("SELECT n.text || s.start_ns || ':' || coalesce(s.dur_ns, 'open') || '/' || s.depth "
           "|| coalesce(a.value, '') AS concat_row FROM slice s JOIN string n ON n.id = "
           "s.name_id LEFT JOIN arg a ON a.owner_id = s.id ORDER BY s.start_ns"),
      R"(outer1000:9000/0{"b": 2} inner2000:2000/1{"a": 1} open20000:open/0)");
  EXPECT_EQ(summary_.dropped.at("not begun"), 1U);
}

TEST_F(PairedEventsTest, PairsByTimeWhateverTheOrderInTheFile) {
  importEvents({eventOf('E', "", R"("ts": 30, "args": {"b": 2, "c": [3]})"),
                eventOf('B', "outer", R"("ts": 0, "args": {"a": 1, "b": {}})"),
                eventOf('E', "", R"("ts": 15)"),
                eventOf('E', "", R"("ts": 20)"),
                eventOf('B', "inner", R"("ts": 10)"),
                eventOf('B', "first of two", R"("ts": 15)"),
                spanOf("c", "in outer", R"("ts": 26, "dur": 1)")});
  EXPECT_EQ(
      rows("SELECT n.text || s.start_ns || ':' || s.dur_ns || '/' || s.depth || "
           "coalesce(a.value, '') AS concat_row FROM slice s JOIN string n ON n.id = "
           "s.name_id LEFT JOIN arg a ON a.owner_id = s.id ORDER BY s.start_ns"),
      R"(outer0:30000/0{"a": 1, "b": 2, "c": [3]} inner10000:5000/1 first of two15000:5000/1 )"
      "in outer26000:1000/1");
}

TEST_F(PairedEventsTest, JoinsArgumentsThatAreNoJson) {
  importEvents({eventOf('B', "s", R"("ts": 1, "args": {"step": 3, "lr": -Infinity , "a": [NaN]})"),
                eventOf('E', "s", R"("ts": 5, "args": {"step": 4, "loss": NaN})"),
                eventOf('B', "s", R"("ts": 10, "args": {"step": 3})"),
                eventOf('E', "s", R"("ts": 15, "args": {"loss":NaN
})")});
  EXPECT_EQ(rows("SELECT value AS concat_row FROM arg ORDER BY owner_id"),
            R"({"lr": -Infinity, "a": [NaN], "step": 4, "loss": NaN} {"step": 3, "loss": NaN})");
}

TEST_F(PairedEventsTest, AnEndClosesTheEventOfItsName) {
  importEvents({eventOf('b', "read", R"("id": 1, "ts": 1)"),
                eventOf('b', "send", R"("id": 1, "ts": 2)"),
                eventOf('e', "read", R"("id": 1, "ts": 3)"),
                eventOf('e', "send", R"("id": 1, "ts": 9)"),
                eventOf('B', "p", R"("ts": 20)"),
                eventOf('B', "q", R"("ts": 21)"),
                eventOf('E', "unknown", R"("ts": 25)"),
                eventOf('E', "", R"("ts": 30)")});
  EXPECT_EQ(
      rows("SELECT n.text || ':' || s.dur_ns AS concat_row FROM slice s JOIN string n ON n.id = "
           "s.name_id ORDER BY s.start_ns"),
      "read:2000 send:7000 p:10000 q:4000");
}

TEST_F(PairedEventsTest, AnEndFindsItsNameBelowAnyNumberOfOthers) {
  constexpr int kOpen = 1000;
  std::vector<std::string> events;
  for (const auto& [phase, at] : {std::pair('B', 1), std::pair('E', 1 + kOpen)})
    for (int each = 0; each < kOpen; ++each)
      events.push_back(
          eventOf(phase, "n" + std::to_string(each), R"("ts": )" + std::to_string(at + each)));
  importEvents(events);
  EXPECT_EQ(rows("SELECT count(*) || ' of ' || dur_ns AS concat_row FROM slice GROUP BY dur_ns"),
            "1000 of 1000000");
}

TEST_F(PairedEventsTest, PairsAsynchronousEventsByCategoryAndId) {
  importEvents({eventOf('b', "first", R"("id": "0x1", "ts": 1)"),
                eventOf('b', "second", R"("id2": {"local": "0x1"}, "ts": 2)"),
                eventOf('n', "point", R"("id": "0x1", "ts": 3)"),
                eventOf('e', "first", R"("id": "0x1", "ts": 4)"),
                eventOf('e', "second", R"("id2": {"local": "0x1"}, "ts": 6)")});
  EXPECT_EQ(rows("SELECT kind || start_ns || ':' || dur_ns || '@' || lane AS concat_row FROM slice "
                 "ORDER BY start_ns"),
            "range1000:3000@1 range2000:4000@2 mark3000:0@0");
}

TEST_F(PairedEventsTest, TiesEachStepOfAFlowToTheOneBefore) {
  importEvents({spanOf("c", "a", R"("ts": 0, "dur": 10)"),
                spanOf("c", "b", R"("ts": 20, "dur": 10)"),
                spanOf("c", "c", R"("ts": 40, "dur": 10)"),
                eventOf('s', "f", R"("id": "x", "ts": 5)"),
                eventOf('t', "f", R"("id": "x", "ts": 25)"),
                eventOf('f', "f", R"("id": "x", "ts": 45, "bp": "e")")});
  EXPECT_EQ(rows(kLinks), "0>20000 20000>40000");
}

TEST_F(PairedEventsTest, AnIdThatStartsAgainIsAnotherFlow) {
  importEvents({spanOf("c", "a", R"("ts": 0, "dur": 10)"),
                spanOf("c", "b", R"("ts": 20, "dur": 10)"),
                spanOf("c", "c", R"("ts": 40, "dur": 10)"),
                spanOf("c", "d", R"("ts": 60, "dur": 10)"),
                eventOf('f', "f", R"("id": 1, "ts": 65, "bp": "e")"),
                eventOf('s', "f", R"("id": 1, "ts": 45)"),
                eventOf('s', "f", R"("id": 1, "ts": 5)"),
                eventOf('f', "f", R"("id": 1, "ts": 25, "bp": "e")"),
                // The second starts outside of all slices, so that its end is not linked.
                eventOf('s', "f", R"("id": 2, "ts": 5)"),
                eventOf('s', "f", R"("id": 2, "ts": 15)"),
                eventOf('f', "f", R"("id": 2, "ts": 25, "bp": "e")"),
                // A clock that lags behind.
                eventOf('s', "f", R"("id": 3, "ts": 25)"),
                eventOf('f', "f", R"("id": 3, "ts": 5, "bp": "e")")});
  EXPECT_EQ(rows(kLinks), "0>20000 20000>0 40000>60000");
}

TEST_F(PairedEventsTest, ArrowsOfAnotherNameOrProcessAreOthers) {
  const auto local = [](char phase, int pid, int ts) {
    return std::string(R"({"ph": ")") + phase +
           R"(", "cat": "c", "name": "f", "bp": "e", "pid": )" + std::to_string(pid) +
           R"(, "tid": 1, "id2": {"local": "1"}, "ts": )" + std::to_string(ts) + "}";
  };
  const auto span = [](int pid, int ts) {
    return R"({"ph": "X", "cat": "c", "name": "s", "tid": 1, "dur": 1, "pid": )" +
           std::to_string(pid) + R"(, "ts": )" + std::to_string(ts) + "}";
  };
  importEvents({span(1, 0),
                span(1, 10),
                span(2, 3),
                span(2, 13),
                local('s', 1, 0),
                local('s', 2, 3),
                local('f', 1, 10),
                local('f', 2, 13),
                spanOf("c", "a", R"("ts": 20, "dur": 1)"),
                spanOf("c", "b", R"("ts": 22, "dur": 1)"),
                spanOf("c", "c", R"("ts": 24, "dur": 1)"),
                spanOf("c", "d", R"("ts": 26, "dur": 1)"),
                eventOf('s', "f1", R"("id": 1, "ts": 20)"),
                eventOf('s', "f2", R"("id": 1, "ts": 22)"),
                eventOf('f', "f1", R"("id": 1, "ts": 24, "bp": "e")"),
                eventOf('f', "f2", R"("id": 1, "ts": 26, "bp": "e")")});
  EXPECT_EQ(rows(kLinks), "0>10000 20000>24000 22000>26000 3000>13000");
}

TEST_F(PairedEventsTest, AnArrowEndsAtTheNextSliceUnlessItIsBoundToItsOwn) {
  importEvents({spanOf("c", "a", R"("ts": 0, "dur": 10)"),
                spanOf("c", "b", R"("ts": 20, "dur": 10)"),
                spanOf("c", "c", R"("ts": 40, "dur": 10)"),
                eventOf('s', "f", R"("id": 1, "ts": 5)"),
                eventOf('f', "f", R"("id": 1, "ts": 25)"),
                eventOf('s', "f", R"("id": 2, "ts": 5)"),
                eventOf('f', "f", R"("id": 2, "ts": 20)"),
                eventOf('s', "f", R"("id": 3, "ts": 5)"),
                eventOf('f', "f", R"("id": 3, "ts": 20, "bp": "e")"),
                eventOf('s', "f", R"("id": 4, "ts": 5)"),
                eventOf('f', "f", R"("id": 4, "ts": 50)")});
  EXPECT_EQ(rows(kLinks), "0>20000 0>20000 0>40000");
}

}  // namespace
}  // namespace sonde::ingest
