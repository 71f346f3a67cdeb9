#include "cli/whatif/sharing_questions.h"

#include "analysis/engine/whatif/sharing/determinism.h"

#include <array>

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

constexpr std::array kSharingQuestions = {
    NamedQuestion{
        "determinism", "uses deterministic algorithms", "factor=,convolutions=1", makeDeterminism},
};

}  // namespace

std::span<const NamedQuestion> sharingQuestions() {
  return kSharingQuestions;
}

}  // namespace sonde::cli
