// Turns a thread's slices into what it did at each instant: of the open slices, the one that began
// last counts. One thread.
//
// Slices need not nest: one that ends after the slice around it counts to its own end. Constant
// time and memory for each slice.
#pragma once

#include "analysis/engine/breakdown/track.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {

class Innermost {
 public:
  // The label that is active at `ns`, where the next slice begins. Unset: no slice is open.
  // Requires: `ns` does not decrease.
  std::optional<Label> at(std::int64_t ns) {
    passTo(ns);
    return open_.empty() ? std::nullopt : std::optional(open_.back().label);
  }

  // Requires: slices ordered by begin; the outer one first if they begin together.
  void add(const Span& slice) {
    passTo(slice.begin);
    if (slice.end > slice.begin)
      open_.push_back(slice);
  }

  // Returns the track up to the end of the last slice. No slice is open after that.
  Track finish() {
    while (!open_.empty())
      passTo(open_.back().end);
    return std::exchange(track_, {});
  }

 private:
  void passTo(std::int64_t ns) {
    while (!open_.empty() && open_.back().end <= ns) {
      passWithin(open_.back().end);
      open_.pop_back();
    }
    if (open_.empty())
      nowNs_ = std::max(nowNs_, ns);
    else
      passWithin(ns);
  }
  void passWithin(std::int64_t ns) {
    const std::int64_t begin = std::max(nowNs_, open_.back().begin);
    track_.add({begin, ns, open_.back().label});
    nowNs_ = std::max(nowNs_, ns);
  }

  std::vector<Span> open_;
  Track track_;
  std::int64_t nowNs_ = INT64_MIN;
};

}  // namespace sonde::engine::breakdown
