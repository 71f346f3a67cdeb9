// The value of `--capture`: which iterations, or which part, of each process are recorded in full.
// Other iterations are in the trace as slices only. Plain functions; any thread.
#pragma once

#include "base/result.h"
#include "collector/wire/spool_format.h"

#include <cstdint>
#include <string>

namespace sonde::recorder {

struct CaptureRule {
  wire::CaptureRule::Kind kind = wire::CaptureRule::Kind::All;
  std::int64_t first = 0;  // for Iterations, inclusive
  std::int64_t last = 0;
  std::uint32_t every = 1;
  std::string range;  // name of a scope
  std::string text;   // as given

  bool isAll() const noexcept { return kind == wire::CaptureRule::Kind::All && every == 1; }
};

// "iterations:A-B" (also A, or A- to the end), "every:N" or "range:NAME".
Result<CaptureRule> parseCapture(const std::string& text);

}  // namespace sonde::recorder
