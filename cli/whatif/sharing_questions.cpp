#include "cli/whatif/sharing_questions.h"

#include "analysis/engine/whatif/sharing/determinism.h"
#include "analysis/engine/whatif/sharing/fused_jobs.h"

#include <array>
#include <utility>

namespace sonde::cli {
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

constexpr std::array kSharingQuestions = {
    NamedQuestion{
        "determinism", "uses deterministic algorithms", "factor=,convolutions=1", makeDeterminism},
    NamedQuestion{"fused-jobs",
                  "runs several times in one, with fused kernels",
                  "jobs=,device=",
                  makeFusedJobs},
};

}  // namespace

std::span<const NamedQuestion> sharingQuestions() {
  return kSharingQuestions;
}

}  // namespace sonde::cli
