#include "analysis/questions/job_questions.h"

#include "analysis/engine/whatif/load_cache.h"
#include "analysis/engine/whatif/loader_workers.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/engine/whatif/no_stragglers.h"
#include "analysis/engine/whatif/ranks/ranks.h"
#include "analysis/engine/whatif/selector.h"
#include "analysis/questions/bandwidth.h"
#include "analysis/questions/pipeline_questions.h"
#include "base/text/number.h"
#include "base/text/time_span.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace sonde::questions {
namespace {

namespace whatif = engine::whatif;
using whatif::Question;

Result<Question> makeNoStragglers(const NamedValues& values) {
  whatif::NoStragglers of;
  for (const auto& [key, value] : values) {
    if (key != "only" && key != "keep")
      return unknownKey("no-stragglers", key, "only and keep");
    SONDE_TRY_ASSIGN((key == "only" ? of.only : of.keep), whatif::parseSelector(value));
  }
  return whatif::noStragglers(std::move(of));
}

Result<Question> makeCache(const NamedValues& values) {
  whatif::LoadCache of;
  for (const auto& [key, value] : values) {
    if (key == "hit") {
      SONDE_TRY_ASSIGN(of.hit, settingNumber(key, value));
    } else if (key == "time") {
      SONDE_TRY_ASSIGN(of.hitNs, parseTimeSpan(value));
    } else {
      return unknownKey("cache", key, "hit and time");
    }
  }
  if (!values.contains("hit"))
    return missingKey("cache", "hit", "hit=90%,time=1ms");
  return whatif::loadCache(of);
}

Result<Question> makeRanks(const NamedValues& values) {
  whatif::Ranks of;
  bool hasCount = false;
  for (const auto& [key, value] : values) {
    if (key == "n") {
      SONDE_TRY_ASSIGN(of.count, wholeNumber(value));
      hasCount = true;
    } else if (key == "cores") {
      SONDE_TRY_ASSIGN(of.processors, wholeNumber(value));
    } else if (key == "batch" && (value == "rank" || value == "global")) {
      of.batch = value == "global" ? whatif::Batch::Global : whatif::Batch::OfRank;
    } else if (key == "batch") {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' is no batch that stays: use rank or global", value)};
    } else {
      return unknownKey("ranks", key, "n, batch and cores");
    }
  }
  if (!hasCount)
    return Error{ErrorCode::InvalidArgument, "give the number of ranks, as in n=8"};
  return whatif::ranks(of);
}

Result<std::int64_t> workerCount(const std::string& text) {
  const auto workers = numberOf(text);
  if (!workers || *workers < 0 || *workers > whatif::kMostWorkers ||
      std::floor(*workers) != *workers)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("'{}' is not a whole number from 0 to {}", text, whatif::kMostWorkers)};
  return static_cast<std::int64_t>(*workers);
}

}  // namespace

Result<Question> makeWorkers(const NamedValues& values) {
  std::int64_t workers = 0;
  std::int64_t prefetch = whatif::kPrefetch;
  for (const auto& [key, value] : values) {
    if (key != "n" && key != "prefetch")
      return unknownKey("workers", key, "n and prefetch");
    SONDE_TRY_ASSIGN((key == "n" ? workers : prefetch),
                     key == "n" ? workerCount(value) : wholeNumber(value));
  }
  if (!values.contains("n"))
    return missingKey("workers", "n", "n=4,prefetch=2");
  return whatif::loaderWorkers(workers, prefetch);
}

Result<Question> makeNetwork(const NamedValues& values) {
  whatif::Network of;
  for (const auto& [key, value] : values) {
    if (key == "latency") {
      SONDE_TRY_ASSIGN(of.latencyNs, parseTimeSpan(value));
    } else if (key == "bandwidth" && value.starts_with('x')) {
      of.bandwidthFactor = numberOf(value.substr(1));
      if (of.bandwidthFactor.value_or(0) <= 0)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("'{}' is not a factor above 0, such as x2", value)};
    } else if (key == "bandwidth") {
      SONDE_TRY_ASSIGN(const std::int64_t bits, parseBandwidth(value));
      of.bytesPerNs = static_cast<double>(bits) / 8e9;
    } else {
      return unknownKey("network", key, "bandwidth and latency");
    }
  }
  if (values.empty())
    return Error{ErrorCode::InvalidArgument,
                 "give bandwidth=…, latency=… or both, as in bandwidth=10Gbit/s,latency=20us"};
  return whatif::network(of);
}

namespace {

constexpr std::array kJobQuestions = {
    NamedQuestion{"cache", "loads a part of its batches from a cache", "hit=,time=0", makeCache},
    NamedQuestion{"degrees", "has other parallel degrees", "data=,tensor=,pipeline=", makeDegrees},
    NamedQuestion{"network", "uses another network", "bandwidth=,latency=", makeNetwork},
    NamedQuestion{"no-stragglers", "has no stragglers", "only=,keep=", makeNoStragglers},
    NamedQuestion{"pipeline",
                  "has another schedule of its pipeline",
                  "schedule=,microbatches=,chunks=,batch=",
                  makePipeline},
    NamedQuestion{"ranks", "has more or fewer ranks", "n=,batch=rank,cores=", makeRanks},
    NamedQuestion{"workers", "has other loader workers", "n=,prefetch=2", makeWorkers},
};

}  // namespace

std::span<const NamedQuestion> jobQuestions() {
  return kJobQuestions;
}

}  // namespace sonde::questions
