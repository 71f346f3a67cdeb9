#include "recorder/options/calibration_rule.h"

#include "base/fnv1a.h"
#include "recorder/options/sources.h"

#include <fmt/format.h>

#include <charconv>

namespace sonde::recorder {

Result<Calibrate> parseCalibrate(const std::string& text) {
  constexpr std::string_view kWithout = "without:";
  if (text.starts_with(kWithout)) {
    SONDE_TRY_ASSIGN(const std::uint32_t mask, parseSources(text.substr(kWithout.size())));
    return Calibrate{wire::kBlockIterations, mask};
  }
  std::uint32_t block = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, block);
  if (error != std::errc() || at != end || block < wire::kLeastBlockIterations)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--calibrate={}: give blocks of {} iterations or more, as in "
                             "--calibrate={}, or without:LIST with the probes that are to be off",
                             text,
                             wire::kLeastBlockIterations,
                             wire::kBlockIterations)};
  return Calibrate{block, std::nullopt};
}

wire::CalibrationRule calibrationRule(const Calibrate& calibrate,
                                      std::uint32_t probeMask,
                                      std::string_view job) {
  if (calibrate.blockIterations == 0)
    return {};
  const std::uint32_t off = calibrate.without.value_or(wire::kMaskableProbes);
  return {calibrate.blockIterations,
          probeMask & wire::kMaskableProbes & off,
          fnv1a(job),
          calibrate.without ? 1U : 0U,
          0};
}

}  // namespace sonde::recorder
