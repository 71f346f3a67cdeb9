#include "analysis/engine/pipeline/read_pipeline.h"

#include "analysis/engine/operations/operation_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace sonde::engine::pipeline {
namespace {

bool hasOrder(const StageRun& run, const Order& order) {
  return std::equal(run.operations.begin(),
                    run.operations.end(),
                    order.begin(),
                    order.end(),
                    [](const StageOperation& operation, Turn turn) {
                      turn.iteration = operation.turn.iteration;
                      return operation.turn == turn;
                    });
}

}  // namespace

Result<void> countMicrobatches(PipelineJob& job) {
  const auto& first = job.iterations.front().runs.front().front().operations;
  job.shape.microbatches = static_cast<std::int64_t>(first.size()) / (2 * job.shape.chunks);
  const auto expected = static_cast<std::size_t>(2 * job.shape.chunks * job.shape.microbatches);
  for (const PipelineIteration& iteration : job.iterations)
    for (const auto& copy : iteration.runs)
      for (const StageRun& run : copy) {
        std::set<std::array<std::int64_t, 3>> found;
        for (const StageOperation& each : run.operations)
          if (each.turn.microbatch < job.shape.microbatches)
            found.insert({each.turn.isForward ? 1 : 0, each.turn.microbatch, each.turn.chunk});
        if (run.operations.size() != expected || found.size() != expected)
          return notFound(fmt::format(
              "not all stages have one forward and one backward of each microbatch in each "
              "iteration: one has {} of them in place of {}",
              run.operations.size(),
              expected));
      }
  return {};
}

Result<PipelineJob> readPipeline(const store::Database& trace, const whatif::Scenario& scenario) {
  SONDE_TRY_ASSIGN(const bool hasOperations, operations::isOperationLevel(trace));
  SONDE_TRY_ASSIGN(PipelineJob job,
                   hasOperations ? readOperationPipeline(trace, scenario)
                                 : readMessagePipeline(trace, scenario));
  SONDE_TRY(countMicrobatches(job));
  return job;
}

std::optional<Schedule> scheduleOf(const PipelineJob& job) {
  for (const Schedule schedule : {Schedule::GPipe, Schedule::OneF1B, Schedule::Interleaved}) {
    const auto orders = ordersOf(schedule, job.shape);
    if (!orders)
      continue;
    bool isAlike = true;
    for (const PipelineIteration& iteration : job.iterations)
      for (const auto& copy : iteration.runs)
        for (std::size_t stage = 0; stage < copy.size(); ++stage)
          isAlike = isAlike && hasOrder(copy[stage], (*orders)[stage]);
    if (isAlike)
      return schedule;
  }
  return std::nullopt;
}

}  // namespace sonde::engine::pipeline
