#include "analysis/questions/sharing_questions.h"

#include "analysis/engine/whatif/sharing/determinism.h"
#include "analysis/engine/whatif/sharing/fused_jobs.h"
#include "analysis/engine/whatif/sharing/second_job.h"
#include "analysis/engine/whatif/sharing/spatial.h"
#include "analysis/questions/bandwidth.h"
#include "base/text/time_span.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

namespace sonde::questions {
namespace {

namespace whatif = engine::whatif;
using whatif::Question;

Result<Question> makeDeterminism(const NamedValues& values) {
  whatif::Determinism of;
  for (const auto& [key, value] : values) {
    if (key == "factor") {
      SONDE_TRY_ASSIGN(of.factor, settingNumber(key, value));
    } else if (key == "convolutions") {
      SONDE_TRY_ASSIGN(of.convolutions, settingNumber(key, value));
    } else {
      return unknownKey("determinism", key, "factor and convolutions");
    }
  }
  return whatif::determinism(of);
}

Result<Question> makeFusedJobs(const NamedValues& values) {
  whatif::FusedJobs of;
  for (const auto& [key, value] : values) {
    if (key == "jobs") {
      SONDE_TRY_ASSIGN(of.jobs, wholeNumber(value));
    } else if (key == "device") {
      of.device = value;
    } else {
      return unknownKey("fused-jobs", key, "jobs and device");
    }
  }
  if (!values.contains("jobs"))
    return missingKey("fused-jobs", "jobs", "jobs=4");
  return whatif::fusedJobs(std::move(of));
}

Result<Question> makeSecondJob(const NamedValues& values) {
  whatif::SecondJob of;
  for (const auto& [key, value] : values) {
    if (key == "slowdown") {
      SONDE_TRY_ASSIGN(of.slowdown, settingNumber(key, value));
    } else if (key == "wave" && (value == "yes" || value == "no")) {
      of.isWave = value == "yes";
    } else if (key == "wave") {
      return Error{ErrorCode::InvalidArgument, fmt::format("wave='{}' is not yes or no", value)};
    } else {
      return unknownKey("second-job", key, "slowdown and wave");
    }
  }
  return whatif::secondJob(of);
}

Result<Question> makeSpatial(const NamedValues& values) {
  whatif::Spatial of;
  for (const auto& [key, value] : values) {
    if (key == "parts" || key == "kernel") {
      SONDE_TRY_ASSIGN((key == "parts" ? of.parts : of.kernel), wholeNumber(value));
    } else if (key == "inside") {
      SONDE_TRY_ASSIGN(const std::int64_t bits, parseBandwidth(value));
      of.bytesPerNs = static_cast<double>(bits) / 8e9;
    } else if (key == "latency") {
      SONDE_TRY_ASSIGN(const std::int64_t ns, parseTimeSpan(value));
      of.latencyNs = static_cast<double>(ns);
    } else {
      return unknownKey("spatial", key, "parts, kernel, inside and latency");
    }
  }
  if (!values.contains("parts"))
    return missingKey("spatial", "parts", "parts=2,inside=100Gbit/s");
  return whatif::spatial(of);
}

constexpr std::array kSharingQuestions = {
    NamedQuestion{
        "determinism", "uses deterministic algorithms", "factor=,convolutions=1", makeDeterminism},
    NamedQuestion{"fused-jobs",
                  "runs several times in one, with fused kernels",
                  "jobs=,device=",
                  makeFusedJobs},
    NamedQuestion{
        "second-job", "shares its devices with a second job", "slowdown=,wave=no", makeSecondJob},
    NamedQuestion{"spatial",
                  "shares each image among several ranks",
                  "parts=,inside=,latency=,kernel=3",
                  makeSpatial},
};

}  // namespace

std::span<const NamedQuestion> sharingQuestions() {
  return kSharingQuestions;
}

}  // namespace sonde::questions
