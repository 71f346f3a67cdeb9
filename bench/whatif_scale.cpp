// Measures how long questions about a large job take once its graph is read. Usage:
//   whatif_scale RANKS ITERATIONS [TRACE]
// TRACE is kept, and used again if it exists. The job is that of large_job.h.
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/replay/incremental_replay.h"
#include "analysis/engine/whatif/asked_job.h"
#include "analysis/engine/whatif/gradients/bucket_size.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/engine/whatif/primitives.h"
#include "analysis/engine/whatif/selector.h"
#include "analysis/store/trace_file.h"
#include "bench/large_job.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace sonde;
namespace whatif = engine::whatif;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void ask(const whatif::AskedJob& job, const char* name, const whatif::Question& question) {
  auto begin = Clock::now();
  const double ns = test::must(job.predictNs({question}));
  const double predicted = secondsSince(begin);
  begin = Clock::now();
  const whatif::Answer answer = test::must(job.ask({question}));
  std::printf("%-28s time alone %.3f s, whole answer %.3f s (%.3f of the baseline)\n",
              name,
              predicted,
              secondsSince(begin),
              ns / answer.baselineNs);
}

// One node in a hundred gets another duration, `stride` nodes apart from each other; `stride` 1:
// the last hundredth of them.
void askIncrementally(const engine::graph::Graph& graph, std::size_t stride) {
  std::vector<std::int64_t> durNs = graph.durNs;
  engine::replay::IncrementalReplay incremental(graph, {durNs, graph.gapNs});
  std::vector<engine::graph::NodeIndex> changed;
  const std::size_t count = graph.nodes() / 100;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = stride == 1 ? graph.nodes() - count + i : i * stride;
    changed.push_back(graph.order[place]);
    durNs[changed.back()] = durNs[changed.back()] * 9 / 10;
  }
  auto begin = Clock::now();
  const std::size_t moved = incremental.update({durNs, graph.gapNs}, changed).size();
  const double partly = secondsSince(begin);
  begin = Clock::now();
  const bool isSame = engine::replay::replay(graph, {durNs, graph.gapNs}) == incremental.beginNs();
  std::printf("replay of %zu changed nodes: %zu moved in %.4f s; full replay %.4f s; %s\n",
              changed.size(),
              moved,
              partly,
              secondsSince(begin),
              isSame ? "the same" : "DIFFERENT");
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 && count != 4) {
    std::fprintf(stderr, "usage: whatif_scale RANKS ITERATIONS [TRACE]\n");
    return 2;
  }
  const test::TemporaryFolder folder;
  const std::string path = count == 4 ? words[3] : folder / "job.sonde";
  if (!std::filesystem::exists(path) &&
      !bench::writeApart(false, std::atoi(words[1]), std::atoi(words[2]), path)) {
    std::fprintf(stderr, "whatif_scale: cannot write %s\n", path.c_str());
    return 1;
  }
  const auto trace = test::must(store::openTrace(path));
  auto begin = Clock::now();
  auto graph = test::must(engine::graph::readGraph(trace));
  std::printf("%zu nodes read in %.2f s\n", graph.graph.nodes(), secondsSince(begin));
  askIncrementally(graph.graph, 100);
  askIncrementally(graph.graph, 1);
  begin = Clock::now();
  const auto job = test::must(whatif::AskedJob::read(trace, std::move(graph)));
  std::printf("identity, baseline and critical path in %.2f s\n", secondsSince(begin));
  const auto selector = [](const char* text) { return test::must(whatif::parseSelector(text)); };
  ask(job, "--scale kind:kernel", whatif::scale(selector("kind:kernel"), 0.5));
  ask(job, "--scale rank:0", whatif::scale(selector("kind:kernel,rank:0"), 0.5));
  ask(job, "--network", whatif::network({.bandwidthFactor = 2}));
  ask(job, "--bucket-size", whatif::bucketSize(8'000'000));
  begin = Clock::now();
  constexpr int kSizes = 64;
  for (int i = 1; i <= kSizes; ++i)
    (void)test::must(job.predictNs({whatif::bucketSize(i * 500'000)}));
  std::printf("%d sizes of buckets in %.2f s\n", kSizes, secondsSince(begin));
  return 0;
}
