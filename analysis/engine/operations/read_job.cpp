#include "analysis/engine/operations/read_job.h"

#include "analysis/engine/operations/job_view.h"
#include "analysis/engine/stragglers/trace_work.h"

#include <cstdint>

namespace sonde::engine::operations {

namespace {

void compareRanks(const stragglers::Work& work, JobGraph& into) {
  into.stragglers = stragglers::findStragglers(work);
  into.whyNoStragglers = stragglers::whyNoneCanBeNamed(work);
  into.ranks = work.ranks.size();
  into.steps = work.steps.size();
}

}  // namespace

Result<JobGraph> readJob(const store::Database& trace, bool withStragglers) {
  JobGraph found;
  SONDE_TRY_ASSIGN(const bool hasOperations, isOperationLevel(trace));
  if (!hasOperations) {
    SONDE_TRY_ASSIGN(found.trace, graph::readGraph(trace));
    if (withStragglers) {
      SONDE_TRY_ASSIGN(const stragglers::Work work, stragglers::workOf(trace, found.trace));
      compareRanks(work, found);
    }
    return found;
  }
  SONDE_TRY_ASSIGN(const OperationGraph job, readOperationGraph(trace));
  found.trace = traceGraphOf(job);
  if (withStragglers) {
    const std::vector<std::int64_t> none(job.graph.nodes(), 0);
    compareRanks(workOf(job, none), found);
  }
  return found;
}

}  // namespace sonde::engine::operations
