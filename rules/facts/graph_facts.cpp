#include "rules/facts/graph_facts.h"

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/stragglers/trace_work.h"

namespace sonde::rules {

Result<GraphFacts> GraphFacts::read(const store::Database& trace) {
  GraphFacts facts;
  const auto graph = engine::graph::readGraph(trace);
  if (!graph) {
    if (graph.error().code != ErrorCode::NotFound)
      return graph.error();
    facts.whyNone = graph.error().message;
    return facts;
  }
  SONDE_TRY_ASSIGN(const engine::stragglers::Work work, engine::stragglers::workOf(trace, *graph));
  facts.ranks = work.ranks.size();
  facts.steps = work.steps.size();
  facts.whyNone = engine::stragglers::whyNoneCanBeNamed(work);
  facts.stragglers = engine::stragglers::findStragglers(work);
  return facts;
}

}  // namespace sonde::rules
