#include "analysis/engine/iterations/masked_iterations.h"

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/diff/rank_times.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/model/words.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::iterations {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// annotation, torch and io: bits 0, 2 and 9.
constexpr std::int64_t kAll = 0b10'0000'0101;
constexpr std::int64_t kWithoutTorch = 0b10'0000'0001;
constexpr std::int64_t kAnnotation = 1;

// A trace of processes with iterations of 100 ns, one after the other, of these masks.
class Trace {
 public:
  explicit Trace(std::string_view sources) {
    if (!sources.empty())
      trace_.meta("sources", sources);
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
  }

  model::ProcessId process(const std::vector<std::int64_t>& masks) {
    const auto id = trace_.add(
        model::Process{.hostId = host_, .pid = ++pid_, .command = "train", .startNs = 0});
    const auto main = trace_.add(model::Thread{.processId = id, .tid = pid_});
    for (std::size_t at = 0; at < masks.size(); ++at) {
      const std::int64_t begin = static_cast<std::int64_t>(at) * 100;
      const auto slice =
          trace_.slice(main, model::SliceKind::Iteration, "it", {begin, begin + 100});
      trace_.add(model::Iteration{.processId = id,
                                  .number = static_cast<std::int64_t>(at),
                                  .startNs = begin,
                                  .durNs = 100,
                                  .probeMask = masks[at],
                                  .sliceId = slice});
    }
    return id;
  }
  store::Database open() {
    trace_.finish();
    return must(store::openTrace(path_));
  }

 private:
  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::HostId host_;
  std::int64_t pid_ = 0;
};

// The numbers of those of a trace with one process.
std::vector<std::int64_t> numbersOf(const store::Database& trace, const MaskedIterations& masked) {
  std::vector<std::int64_t> numbers;
  auto rows = must(trace.prepare("SELECT id, number FROM iteration ORDER BY number"));
  while (must(rows.step()))
    if (masked.contains(rows.integer(0)))
      numbers.push_back(rows.integer(1));
  return numbers;
}

std::vector<std::int64_t> maskedOf(std::string_view sources,
                                   const std::vector<std::int64_t>& masks) {
  Trace made(sources);
  made.process(masks);
  const auto trace = made.open();
  return numbersOf(trace, must(MaskedIterations::read(trace)));
}

TEST(MaskedIterations, AreThoseWithoutAProbeAndTheFirstAfterThem) {
  const std::vector<std::int64_t> masks = {
      kAll, kWithoutTorch, kWithoutTorch, kAll, kAll, kAnnotation, kWithoutTorch, kAll, kAll};
  for (const char* const sources : {"annotation,torch,io", ""})
    EXPECT_THAT(maskedOf(sources, masks), ElementsAre(1, 2, 3, 5, 6, 7)) << sources;
}

TEST(MaskedIterations, AfterAnOutlineNothingWasSwitched) {
  EXPECT_THAT(maskedOf("annotation,torch,io", {kAll, 0, 0, kAll, kAll}), ElementsAre(1, 2));
}

TEST(MaskedIterations, AreNoneOfATraceThatSaysNothingOfProbes) {
  EXPECT_THAT(maskedOf("", {0, 0, 0}), IsEmpty());
  EXPECT_THAT(maskedOf("", {}), IsEmpty());
}

TEST(MaskedIterations, GoByTheProcessWhereNothingElseSaysWhatItWasAskedFor) {
  for (const char* const sources : {"", "annotation and annotation,io", "net", "no probe"}) {
    Trace made(sources);
    const auto full = made.process({kAll, kAll});
    const auto part = made.process({kWithoutTorch, kWithoutTorch});
    const auto several = made.process({0b1000'0001, 0b111});
    const auto trace = made.open();
    const auto masked = must(MaskedIterations::read(trace));
    EXPECT_EQ(masked.fullMaskOf(full.value), kAll);
    EXPECT_EQ(masked.fullMaskOf(part.value), kWithoutTorch);
    EXPECT_EQ(masked.fullMaskOf(several.value), 0b1000'0111) << "not the largest number";
    EXPECT_EQ(masked.fullMaskOf(99), 0);
    EXPECT_THAT(numbersOf(trace, masked), ElementsAre(0, 1)) << "those of `several`";
  }
}

TEST(MaskedIterations, GoByWhatTheRunWasAskedForAndNotByWhatIsThere) {
  Trace made("annotation,torch,io");
  const std::int64_t plugin = model::probeBit("plugin");
  const auto part = made.process({kWithoutTorch, kWithoutTorch});
  const auto more = made.process({kAll | plugin, kAll});
  const auto trace = made.open();
  const auto masked = must(MaskedIterations::read(trace));
  EXPECT_EQ(masked.fullMaskOf(part.value), kAll);
  EXPECT_EQ(masked.fullMaskOf(more.value), kAll | plugin);
  EXPECT_THAT(numbersOf(trace, masked), ElementsAre(0, 1, 1));
}

// Whatever is said of iterations is said of the same ones.
TEST(MaskedIterations, AreLeftOutOfReportDiffAndBreakdownAlike) {
  std::mt19937 random(5);
  const std::vector<std::int64_t> kinds = {0, kAnnotation, kWithoutTorch, 0b100, kAll, kAll, kAll};
  for (std::size_t round = 0; round < 40; ++round) {
    std::vector<std::int64_t> masks(12);
    for (std::int64_t& mask : masks)
      mask = kinds[random() % kinds.size()];
    masks[round % masks.size()] = kAll;  // some count
    if (round % 12 != 0)
      masks[round % masks.size() - 1] = kAll;
    Trace made(round % 2 == 0 ? "annotation,torch,io" : "");
    made.process(masks);
    const auto trace = made.open();
    std::vector<std::int64_t> expected;
    for (std::size_t at = 0; at < masks.size(); ++at) {
      const std::int64_t before = at == 0 ? kAll : masks[at - 1];
      if (masks[at] == kAll && (before == kAll || before == 0))
        expected.push_back(static_cast<std::int64_t>(at));
    }
    std::vector<std::int64_t> ofReport;
    const auto ranks = must(metrics::readRanks(trace));
    for (const metrics::IterationTime& each : ranks.at(0).iterations)
      ofReport.push_back(each.number);
    EXPECT_EQ(ofReport, expected);
    EXPECT_EQ(ranks[0].maskedCount, static_cast<std::int64_t>(masks.size() - expected.size()));
    const auto times = must(diff::readRankTimes(trace, {}));
    EXPECT_EQ(times.at(0).iterations, expected);
    EXPECT_EQ(times[0].partial, masks.size() - expected.size());
    std::set<std::int64_t> ofBreakdown;
    for (const auto& row : must(breakdown::breakDown(trace, {.by = {.iteration = true}})).rows)
      if (row.group.iteration)
        ofBreakdown.insert(*row.group.iteration);
    EXPECT_EQ(std::vector(ofBreakdown.begin(), ofBreakdown.end()), expected);
  }
}

}  // namespace
}  // namespace sonde::engine::iterations
