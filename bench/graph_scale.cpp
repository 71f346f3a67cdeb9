// Measures how long the graph of a large job takes to build and to replay. Usage:
//   graph_scale [--host] RANKS ITERATIONS [TRACE]
// TRACE is kept, and used again if it exists. The job is a simulated data-parallel one: 32 layers
// and 8 buckets, all ranks on one machine; with --host on its processors. Another process simulates
// it and writes the trace, so that it does not count as memory.
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/replay/replay.h"
#include "analysis/store/trace_file.h"
#include "bench/large_job.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

namespace {

using namespace sonde;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

int main(int count, char** words) {
  const bool onHost = count > 1 && std::string(words[1]) == "--host";
  if (onHost) {
    --count;
    ++words;
  }
  if (count != 3 && count != 4) {
    std::fprintf(stderr, "usage: graph_scale [--host] RANKS ITERATIONS [TRACE]\n");
    return 2;
  }
  const test::TemporaryFolder folder;
  const std::string path = count == 4 ? words[3] : folder / "job.sonde";
  if (!std::filesystem::exists(path) &&
      !bench::writeApart(onHost, std::atoi(words[1]), std::atoi(words[2]), path)) {
    std::fprintf(stderr, "graph_scale: cannot write %s\n", path.c_str());
    return 1;
  }
  const auto trace = test::must(store::openTrace(path));
  const auto begin = Clock::now();
  const std::clock_t cpuBegin = std::clock();
  const auto graph = test::must(engine::graph::readGraph(trace)).graph;
  const double built = secondsSince(begin);
  const double cpu = static_cast<double>(std::clock() - cpuBegin) / CLOCKS_PER_SEC;
  double replayed = 1e9;
  bool isExact = true;
  for (int round = 0; round < 3; ++round) {
    const auto start = Clock::now();
    const auto begins = engine::replay::replay(graph, {graph.durNs, graph.gapNs});
    replayed = std::min(replayed, secondsSince(start));
    isExact = isExact && begins == graph.beginNs;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "%zu nodes, %zu edges: built in %.2f s (%.2f s of CPU time), replayed in %.3f s (%.1f M "
      "nodes/s), %s; at most %ld MiB\n",
      graph.nodes(),
      graph.edges(),
      built,
      cpu,
      replayed,
      static_cast<double>(graph.nodes()) / replayed / 1e6,
      isExact ? "exact" : "NOT exact",
      usage.ru_maxrss / 1024);
  return isExact ? 0 : 1;
}
