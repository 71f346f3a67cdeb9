#include "rules/facts/graph_facts.h"

#include "analysis/engine/operations/read_job.h"

#include <utility>

namespace sonde::rules {

Result<GraphFacts> GraphFacts::read(const store::Database& trace) {
  GraphFacts facts;
  auto job = engine::operations::readJob(trace, true);
  if (!job) {
    if (job.error().code != ErrorCode::NotFound)
      return job.error();
    facts.whyNone = job.error().message;
    return facts;
  }
  facts.ranks = job->ranks;
  facts.steps = job->steps;
  facts.whyNone = std::move(job->whyNoStragglers);
  facts.stragglers = std::move(job->stragglers);
  return facts;
}

}  // namespace sonde::rules
