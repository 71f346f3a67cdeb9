// Records fewer iterations in full, or fewer captured ranges, as the trace nears its size limit.
//
// When half of the limit is used, only every second iteration is recorded in full. From then on,
// each time the rest has shrunk by a factor of the square root of 2, only half as many are. So the
// share in full falls with the square of the rest, and the rest with the inverse of the time: full
// iterations never stop, however long the job is. For captured ranges the same applies to the times
// at which a range is open.
//
// Part of one Drainer, on its thread.
#pragma once

#include "recorder/drain/image_set.h"
#include "recorder/drain/recorder_notes.h"
#include "recorder/options/capture_rule.h"
#include "recorder/spool/clock_triple.h"

#include <cstdint>
#include <string>
#include <utility>

namespace sonde::recorder {

class Thinning {
 public:
  // `limitBytes`: of the trace; 0: none.
  Thinning(CaptureRule capture, std::uint64_t limitBytes)
      : capture_(std::move(capture)), limitBytes_(limitBytes) {}

  // Applies to all processes, and notes it, if less of the limit is left than before.
  void update(double shareLeft, const ClockTriple& now, ImageSet& images, RecorderNotes& notes);
  // Switches recording for processes without iterations. Call it about every 250 ms. Requires:
  // isActive().
  void sliceTime(std::int64_t realtimeNs, ImageSet& images) const;
  bool isActive() const noexcept { return oneOf_ > 1; }

 private:
  bool isOfRanges() const noexcept { return capture_.kind == wire::CaptureRule::Kind::Range; }
  std::string describe(std::uint32_t every) const;

  CaptureRule capture_;
  std::uint64_t limitBytes_;
  double nextAt_ = 0.5;      // the share of the limit that must be left
  std::uint32_t oneOf_ = 1;  // one of this many iterations is recorded in full
};

}  // namespace sonde::recorder
