// The value of `--capture`: which iterations of each process, or which stretch of it, are recorded
// in full. Of the others the trace has the iterations themselves. Plain functions; any thread.
#pragma once

#include "base/result.h"
#include "collector/wire/spool_format.h"

#include <cstdint>
#include <string>

namespace sonde::recorder {

struct CaptureRule {
  wire::CaptureRule::Kind kind = wire::CaptureRule::Kind::All;
  std::int64_t first = 0;  // of Iterations, both included
  std::int64_t last = 0;
  std::uint32_t every = 1;
  std::string range;  // name of a scope
  std::string text;   // as it was given

  bool isAll() const noexcept { return kind == wire::CaptureRule::Kind::All && every == 1; }
};

// "iterations:A-B" (also A, or A- to the end), "every:N" or "range:NAME".
Result<CaptureRule> parseCapture(const std::string& text);

}  // namespace sonde::recorder
