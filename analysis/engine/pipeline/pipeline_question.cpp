#include "analysis/engine/pipeline/pipeline_question.h"

#include "analysis/engine/pipeline/read_pipeline.h"
#include "analysis/engine/pipeline/rearrange.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::engine::pipeline {
namespace {

using whatif::Asking;

Error contradiction(std::string message) {
  return {ErrorCode::InvalidArgument, std::move(message)};
}

Result<Target> targetOf(const PipelineChange& change,
                        const PipelineJob& job,
                        std::optional<Schedule> now) {
  Target target;
  if (!change.schedule && !now)
    return contradiction(
        "the job's own schedule is none that Sonde knows: give schedule=gpipe, 1f1b, interleaved "
        "or async");
  target.schedule = change.schedule.value_or(now.value_or(Schedule::OneF1B));
  target.shape = {
      change.stages.value_or(job.shape.stages),
      change.chunks.value_or(target.schedule == Schedule::Interleaved ? job.shape.chunks : 1),
      change.microbatches.value_or(job.shape.microbatches)};
  if (target.schedule == Schedule::Interleaved && !change.chunks && job.shape.chunks == 1)
    return contradiction(
        "the job's stages have one chunk of the model each: give the number of chunks of an "
        "interleaved schedule, such as chunks=2");
  if (!change.keepsMicrobatchSize && target.shape.microbatches > 0)
    target.microbatchSize = static_cast<double>(job.shape.microbatches) /
                            static_cast<double>(target.shape.microbatches);
  return target;
}

std::string textOf(const Shape& shape) {
  return fmt::format("{} stages{}, {} microbatches",
                     shape.stages,
                     shape.chunks > 1 ? fmt::format(" with {} chunks each", shape.chunks) : "",
                     shape.microbatches);
}

// In microbatches of the present size.
double mostHeld(const std::vector<Order>& orders, const Shape& shape, double size) {
  std::int64_t most = 0;
  for (const Order& order : orders)
    most = std::max(most, mostInFlight(order));
  return static_cast<double>(most) / static_cast<double>(shape.chunks) * size;
}

void addNotes(Asking& asking,
              const PipelineJob& job,
              const Target& target,
              std::optional<Schedule> now) {
  const bool isAsync = target.schedule == Schedule::Async;
  asking.notes.push_back(fmt::format("the pipeline has the schedule '{}' ({}) instead of {} ({})",
                                     nameOf(target.schedule),
                                     textOf(target.shape),
                                     now ? fmt::format("'{}'", nameOf(*now)) : "one of its own",
                                     textOf(job.shape)));
  if (isAsync)
    asking.notes.emplace_back(
        "forwards of the next iteration begin before this one has ended, so they use weights that "
        "lack its gradients: the job learns differently");
  if (isAsync && job.iterations.front().end != graph::kNoNode)
    asking.notes.emplace_back(
        "the collectives of all stages at the end of an iteration stay, and make the stages wait "
        "for "
        "each other");
  if (target.shape.microbatches != job.shape.microbatches && target.microbatchSize != 1)
    asking.notes.push_back(
        fmt::format("a microbatch has {0:.3g} times the present size and takes {0:.3g} times as "
                    "long; half of a "
                    "message's time counts as latency, which stays",
                    target.microbatchSize));
  else if (target.shape.microbatches != job.shape.microbatches)
    asking.notes.push_back(fmt::format(
        "microbatches keep their size, so an iteration works on {:.3g} times as many samples",
        static_cast<double>(target.shape.microbatches) /
            static_cast<double>(job.shape.microbatches)));
  if (target.shape.chunks != job.shape.chunks)
    asking.notes.emplace_back("the layers of a stage are divided evenly among its chunks");
  if (target.shape.stages != job.shape.stages)
    asking.notes.push_back(fmt::format(
        "the layers of the model are divided evenly among {} stages in place of {}, and "
        "the job has {:.3g} times as many ranks",
        target.shape.stages,
        job.shape.stages,
        static_cast<double>(target.shape.stages) / static_cast<double>(job.shape.stages)));
  const auto before = ordersOf(now.value_or(Schedule::OneF1B), job.shape);
  const auto after = ordersOf(target.schedule, target.shape);
  if (now && before && after)
    asking.notes.push_back(fmt::format(
        "a stage holds the activations of up to {:.3g} microbatches of the present size, now of "
        "{:.3g}; whether there is memory for that is not judged",
        mostHeld(*after, target.shape, target.microbatchSize),
        mostHeld(*before, job.shape, 1)));
}

}  // namespace

whatif::Question changePipeline(PipelineChange change) {
  return [change](Asking& asking) -> Result<void> {
    SONDE_TRY_ASSIGN(const PipelineJob job, readPipeline(asking.trace, asking.scenario));
    const std::optional<Schedule> now = scheduleOf(job);
    SONDE_TRY_ASSIGN(const Target target, targetOf(change, job, now));
    SONDE_TRY(rearrange(asking.scenario, job, target));
    asking.modelError = std::max(asking.modelError, messageFactor(target.microbatchSize).second);
    addNotes(asking, job, target, now);
    return {};
  };
}

}  // namespace sonde::engine::pipeline
