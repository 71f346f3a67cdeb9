#include "analysis/export/folded/folded_exporter.h"

#include "tests/export/export_rig.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sonde::exports {
namespace {

struct Span {
  std::string name;
  std::int64_t startNs;
  std::int64_t endNs;
};

class FoldedExporter : public ::testing::Test {
 protected:
  // The output for a thread with these spans, each on a lane of its own, like all that overlap
  // without nesting.
  std::string folded(const std::vector<Span>& spans) {
    {
      test::TraceBuilder trace(folder_ / "a.sonde");
      const auto host = trace.add(model::Host{.name = "h", .bootId = "b"});
      const auto process = trace.add(model::Process{.hostId = host, .pid = 1, .rank = 0});
      const auto thread = trace.add(model::Thread{.processId = process, .tid = 1, .name = "t"});
      for (std::size_t lane = 0; lane < spans.size(); ++lane)
        trace.add(model::Slice{.threadId = thread,
                               .nameId = trace.name(spans[lane].name),
                               .startNs = spans[lane].startNs,
                               .durNs = spans[lane].endNs - spans[lane].startNs,
                               .lane = static_cast<std::int64_t>(lane)});
      trace.finish();
    }
    return test::exported(
        folder_ / "a.sonde", folder_ / "a.folded", [](const auto& trace, OutputFile& output) {
          return exportFolded(trace, output);
        });
  }

  test::TemporaryFolder folder_;
};

TEST_F(FoldedExporter, APathHasOnlyWhatWasOpenWhenItBegan) {
  EXPECT_EQ(folded({{"A", 0, 100}, {"B", 50, 150}, {"y", 140, 170}}),
            "rank 0;t 1;A 50\n"
            "rank 0;t 1;A;B 90\n"
            "rank 0;t 1;B;y 30\n");
}

TEST_F(FoldedExporter, WhatEndsInTheMiddleLeavesThoseAroundIt) {
  EXPECT_EQ(folded({{"outer", 0, 100}, {"A", 10, 30}, {"B", 20, 60}, {"C", 40, 50}, {"D", 70, 80}}),
            "rank 0;t 1;outer 40\n"
            "rank 0;t 1;outer;A 10\n"
            "rank 0;t 1;outer;A;B 30\n"
            "rank 0;t 1;outer;B;C 10\n"
            "rank 0;t 1;outer;D 10\n");
}

TEST_F(FoldedExporter, WhatEndsAsTheNextBeginsIsNotAboveIt) {
  EXPECT_EQ(folded({{"A", 0, 20}, {"B", 10, 30}, {"C", 20, 40}}),
            "rank 0;t 1;A 10\n"
            "rank 0;t 1;A;B 10\n"
            "rank 0;t 1;B;C 20\n");
}

TEST_F(FoldedExporter, AChainOfOverlapsGrowsWithItsLength) {
  constexpr std::size_t kSpans = 1000;
  std::vector<Span> spans;
  for (std::size_t i = 0; i < kSpans; ++i)
    spans.push_back({fmt::format("r{}", i),
                     static_cast<std::int64_t>(10 * i),
                     static_cast<std::int64_t>(10 * i + 15)});
  const std::string text = folded(spans);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kSpans);
  EXPECT_NE(text.find("rank 0;t 1;r998;r999 15\n"), std::string::npos);
  EXPECT_LT(text.size(), kSpans * 32);
}

TEST_F(FoldedExporter, SpansOfOnePathAreAddedUp) {
  EXPECT_EQ(folded({{"A", 0, 10}, {"b", 2, 5}, {"A", 20, 30}, {"b", 22, 23}}),
            "rank 0;t 1;A 16\n"
            "rank 0;t 1;A;b 4\n");
}

}  // namespace
}  // namespace sonde::exports
