// A small trace whose critical path a test looks at. One thread.
#pragma once

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/graph/trace_graph.h"
#include "tests/support/device_trace.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::test {

inline constexpr std::int64_t kUs = 1000;

class TracePath : public DeviceTrace {
 protected:
  // The causes of the only path, by time, with what took the time in µs.
  std::vector<std::pair<std::string, std::int64_t>> path() {
    const store::Database trace = open();
    const engine::graph::TraceGraph graph = must(engine::graph::readGraph(trace));
    const auto paths = engine::critical::pathsOf(graph);
    std::vector<std::pair<std::string, std::int64_t>> found;
    for (const auto& part :
         must(engine::critical::partsOf(trace, graph.graph, paths.front().path))) {
      const std::string text = std::string(engine::critical::nameOf(part.cause)) + " " + part.what;
      if (!found.empty() && found.back().first == text)
        found.back().second += part.lengthNs() / kUs;
      else
        found.emplace_back(text, part.lengthNs() / kUs);
    }
    return found;
  }

  Span us(std::int64_t begin, std::int64_t end) const { return {begin * kUs, end * kUs}; }
};

}  // namespace sonde::test
