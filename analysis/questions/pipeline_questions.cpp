#include "analysis/questions/pipeline_questions.h"

#include "analysis/engine/pipeline/degrees.h"
#include "analysis/engine/pipeline/pipeline_question.h"
#include "base/text/number.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace sonde::questions {
namespace {

using engine::pipeline::PipelineChange;
using engine::whatif::Question;

Error badValue(const std::string& key, const std::string& value, const char* form) {
  return {ErrorCode::InvalidArgument, fmt::format("{}={} is not {}", key, value, form)};
}

Result<std::int64_t> countOf(const std::string& key, const std::string& value) {
  constexpr double kMost = 1'000'000;
  const auto count = numberOf(value);
  if (!count || *count < 1 || *count > kMost || std::floor(*count) != *count)
    return badValue(key, value, "a whole number from 1 to 1000000");
  return static_cast<std::int64_t>(*count);
}

// False: the pipeline has no such setting.
Result<bool> setPipeline(const std::string& key, const std::string& value, PipelineChange& change) {
  if (key == "schedule") {
    change.schedule = engine::pipeline::scheduleNamed(value);
    if (!change.schedule)
      return badValue(key, value, "gpipe, 1f1b, interleaved or async");
  } else if (key == "microbatches") {
    SONDE_TRY_ASSIGN(change.microbatches, countOf(key, value));
  } else if (key == "chunks") {
    SONDE_TRY_ASSIGN(change.chunks, countOf(key, value));
  } else if (key == "batch") {
    if (value != "global" && value != "micro")
      return badValue(key, value, "global or micro");
    change.keepsMicrobatchSize = value == "micro";
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<Question> makePipeline(const NamedValues& values) {
  PipelineChange change;
  for (const auto& [key, value] : values) {
    SONDE_TRY_ASSIGN(const bool isSet, setPipeline(key, value, change));
    if (!isSet)
      return unknownKey("pipeline", key, "schedule, microbatches, chunks and batch");
  }
  if (!change.schedule && !change.microbatches && !change.chunks)
    return Error{ErrorCode::InvalidArgument,
                 "give schedule=…, microbatches=… or chunks=…, as in pipeline,schedule=gpipe"};
  return engine::pipeline::changePipeline(change);
}

Result<Question> makeDegrees(const NamedValues& values) {
  engine::pipeline::Degrees degrees;
  bool changesPipeline = false;
  for (const auto& [key, value] : values) {
    if (key == "data") {
      SONDE_TRY_ASSIGN(degrees.data, countOf(key, value));
    } else if (key == "tensor") {
      SONDE_TRY_ASSIGN(degrees.tensor, countOf(key, value));
    } else if (key == "pipeline") {
      SONDE_TRY_ASSIGN(degrees.pipeline.stages, countOf(key, value));
    } else {
      SONDE_TRY_ASSIGN(const bool isSet, setPipeline(key, value, degrees.pipeline));
      if (!isSet)
        return unknownKey(
            "degrees", key, "data, tensor, pipeline, schedule, microbatches, chunks and batch");
      changesPipeline = true;
    }
  }
  if (!degrees.data && !degrees.tensor && !degrees.pipeline.stages)
    return Error{ErrorCode::InvalidArgument,
                 "give data=…, tensor=… or pipeline=…, as in degrees,pipeline=8"};
  if (changesPipeline && !degrees.pipeline.stages)
    return Error{ErrorCode::InvalidArgument,
                 "schedule, microbatches, chunks and batch go with pipeline=…; or ask pipeline,…"};
  return engine::pipeline::changeDegrees(degrees);
}

}  // namespace sonde::questions
