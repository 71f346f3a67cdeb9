// A simulated job, its trace and its graph, for tests that compare a replay with the truth. Ends
// the program on errors.
#pragma once

#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/merge/merge.h"
#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/replay/replay.h"
#include "analysis/store/trace_file.h"
#include "tests/jobsim/simulation.h"
#include "tests/jobsim/write_trace.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sonde::test {

class SimulatedJob {
 public:
  explicit SimulatedJob(const jobsim::Job& job)
      : trace_(open(folder_, job)), graph_(must(engine::graph::readGraph(trace_))) {}

  const engine::graph::TraceGraph& trace() const { return graph_; }
  const engine::graph::Graph& graph() const { return graph_.graph; }
  const store::Database& database() const { return trace_; }

  // The length of each iteration, mean of its ranks.
  std::vector<double> measured() const { return lengths(graph().beginNs, graph().durNs); }
  // The same in a replay with these durations.
  std::vector<double> replayed(const std::vector<std::int64_t>& durNs) const {
    return lengths(engine::replay::replay(graph(), {durNs, graph().gapNs}), durNs);
  }

  // The durations if all that is called one of `names` took `percent` of its time: kernels, copies,
  // and slices of threads.
  std::vector<std::int64_t> scaled(const std::set<std::string>& names, int percent) const {
    using engine::critical::Element;
    std::vector<std::int64_t> durations = graph().durNs;
    for (engine::graph::NodeIndex node = 0; node < graph().nodes(); ++node) {
      const std::vector<Element> alone = {
          {node, engine::critical::Cause::Node, 0, graph().beginNs[node], graph().endNs(node)}};
      std::int64_t ns = 0;
      for (const auto& part : must(engine::critical::partsOf(trace_, graph(), alone)))
        ns += names.contains(part.what) ? part.lengthNs() : 0;
      durations[node] -= ns * (100 - percent) / 100;
    }
    return durations;
  }

 private:
  static store::Database open(const TemporaryFolder& folder, const jobsim::Job& job) {
    const jobsim::History history = jobsim::simulate(job);
    engine::merge::MergeOptions merged;
    merged.output = folder / "job.sonde";
    for (int rank = 0; rank < static_cast<int>(job.ranks.size()); ++rank) {
      merged.inputs.emplace_back(folder / ("rank" + std::to_string(rank) + ".sonde"));
      jobsim::writeTrace(job, history, merged.inputs.back(), rank);
    }
    must(engine::merge::merge(merged));
    return must(store::openTrace(merged.output));
  }

  std::vector<double> lengths(const std::vector<std::int64_t>& begin,
                              const std::vector<std::int64_t>& duration) const {
    std::vector<double> found;
    for (const auto& each : engine::replay::jobIterations(graph_))
      found.push_back(engine::replay::lengthOf(each, begin, duration));
    return found;
  }

  TemporaryFolder folder_;
  store::Database trace_;
  engine::graph::TraceGraph graph_;
};

}  // namespace sonde::test
