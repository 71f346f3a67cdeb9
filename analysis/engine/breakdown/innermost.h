// What a thread did from instant to instant, of slices that lie within each other: each instant is
// that of the slice that began last among those that are open. One thread.
//
// Slices need not nest: one that ends after what is around it counts to its own end. Constant work
// and memory for each slice and each that is open.
#pragma once

#include "analysis/engine/breakdown/track.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {

class Innermost {
 public:
  // The label that is active at `ns`, where the next slice begins. Nothing: no slice is open.
  // Requires: `ns` does not go back.
  std::optional<Label> at(std::int64_t ns) {
    passTo(ns);
    return open_.empty() ? std::nullopt : std::optional(open_.back().label);
  }

  // Requires: in the order of begins; of slices that begin together the outer one first.
  void add(const Span& slice) {
    passTo(slice.begin);
    if (slice.end > slice.begin)
      open_.push_back(slice);
  }

  // What was until the last slice ended. Nothing is open after that.
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
