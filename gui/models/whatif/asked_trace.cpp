#include "gui/models/whatif/asked_trace.h"

#include "analysis/engine/operations/read_job.h"

#include <utility>

namespace sonde::gui {

namespace {

Result<engine::whatif::AskedJob> readAskedJob(const store::Database& trace) {
  SONDE_TRY_ASSIGN(engine::operations::JobGraph graph, engine::operations::readJob(trace, false));
  return engine::whatif::AskedJob::read(trace, std::move(graph.trace));
}

}  // namespace

Result<AskedTrace> readAsked(const std::shared_ptr<const store::Database>& trace) {
  SONDE_TRY_ASSIGN(engine::whatif::AskedJob job, readAskedJob(*trace));
  trace->stopWhen({});
  return AskedTrace(trace, std::move(job));
}

Result<engine::whatif::Answer> AskedTrace::ask(
    const std::vector<engine::whatif::Question>& questions,
    const store::StopCheck& isToStop) const {
  const std::lock_guard lock(*mutex_);
  if (isToStop && isToStop())
    return Error{ErrorCode::Io, "interrupted"};
  trace_->stopWhen(isToStop);
  auto answer = job_.ask(questions);
  trace_->stopWhen({});
  return answer;
}

Result<std::vector<engine::critical::PathPart>> AskedTrace::name(
    const std::vector<engine::critical::Element>& stretches) const {
  const std::lock_guard lock(*mutex_);
  return engine::critical::partsOf(*trace_, job().graph, stretches);
}

Result<engine::optimise::Plan> findPlan(const store::Database& trace,
                                        const std::atomic<bool>& stop) {
  SONDE_TRY_ASSIGN(const engine::whatif::AskedJob job, readAskedJob(trace));
  engine::optimise::PlanOptions options;
  options.isToStop = [&stop] { return stop.load(); };
  return engine::optimise::plan(job, options);
}

}  // namespace sonde::gui
