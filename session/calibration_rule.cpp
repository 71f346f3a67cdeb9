#include "session/calibration_rule.h"

namespace sonde::session {

namespace {

// FNV-1a.
std::uint64_t hashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x0000'0100'0000'01b3;
  }
  return hash;
}

}  // namespace

wire::CalibrationRule calibrationRule(std::uint32_t blockIterations,
                                      std::uint32_t probeMask,
                                      std::string_view job) {
  if (blockIterations == 0)
    return {};
  return {blockIterations, probeMask & wire::kMaskableProbes, hashOf(job)};
}

}  // namespace sonde::session
