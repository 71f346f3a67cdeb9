#include "analysis/engine/optimise/pipeline_changes.h"

#include "analysis/engine/pipeline/pipeline_question.h"
#include "analysis/engine/pipeline/read_pipeline.h"

#include <fmt/format.h>

#include <cstdint>

namespace sonde::engine::optimise {
namespace {

using pipeline::Schedule;

// A schedule and how many chunks of the model a stage has.
struct Way {
  Schedule schedule;
  std::int64_t chunks;
};

Change changeTo(Way way, std::int64_t microbatches, const pipeline::PipelineChange& change) {
  const bool isInterleaved = way.schedule == Schedule::Interleaved;
  const std::string chunks = isInterleaved ? fmt::format(", {} chunks a stage", way.chunks) : "";
  Change made;
  made.what = fmt::format(
      "run the pipeline as {} with {} microbatches{}", nameOf(way.schedule), microbatches, chunks);
  made.setting =
      fmt::format("schedule {}, {} microbatches{}", nameOf(way.schedule), microbatches, chunks);
  made.question =
      fmt::format("--ask pipeline,schedule={},microbatches={}", nameOf(way.schedule), microbatches);
  if (isInterleaved)
    made.question += fmt::format(",chunks={}", way.chunks);
  made.ask = pipeline::changePipeline(change);
  return made;
}

}  // namespace

Result<Family> pipelineChanges(const whatif::AskedJob& job) {
  SONDE_TRY_ASSIGN(const pipeline::PipelineJob of,
                   pipeline::readPipeline(job.trace(), job.measured()));
  const std::int64_t now = of.shape.microbatches;
  Family family{"pipeline"};
  for (const Way way : {Way{Schedule::GPipe, 1},
                        Way{Schedule::OneF1B, 1},
                        Way{Schedule::Interleaved, 2},
                        Way{Schedule::Interleaved, 4}})
    for (const std::int64_t microbatches : {now / 2, now, 2 * now, 4 * now}) {
      const bool isAsNow = microbatches == now && way.chunks == of.shape.chunks &&
                           way.schedule == pipeline::scheduleOf(of);
      if (microbatches == 0 || isAsNow)
        continue;
      pipeline::PipelineChange change{.schedule = way.schedule, .microbatches = microbatches};
      change.chunks = way.chunks;
      family.changes.push_back(changeTo(way, microbatches, change));
    }
  return family;
}

}  // namespace sonde::engine::optimise
