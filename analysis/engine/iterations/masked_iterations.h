// The iterations of a trace that do not count: not all of them was recorded, the recorder stored
// during them, or they are inside another one. Only this class decides it, so that all results
// cover the same iterations. Reading uses the database's thread; then plain values.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/iteration_nesting.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace sonde::engine::iterations {

class MaskedIterations {
 public:
  // Masks iterations in which not all probes recorded that the run asked for (`meta.sources`; if
  // unknown, all probes that the process ever had). This includes iterations in outline. It also
  // masks the first one with all probes after some were off: hooks were just installed, and caches
  // still hold the previous data. A trace without information on probes, such as an imported one,
  // has none. In a run with --calibrate it also masks iterations during which the recorder of their
  // host stored, since no event accounts for that processor time. It does not if too few iterations
  // of a process would be left with all probes, or with some off.
  static Result<MaskedIterations> read(const store::Database& trace);

  // For a row of `iteration`; false for inner ones.
  bool contains(std::int64_t id) const { return masked_.contains(id); }
  // Whether it lies inside another iteration of its thread; its time then belongs to that one.
  bool isInner(std::int64_t id) const { return holders_.contains(id); }
  // The iteration directly around it. Requires: isInner(id).
  std::int64_t holderOf(std::int64_t id) const { return holders_.at(id); }
  // Whether the recorder stored during it. For masked iterations, and for those with probes off.
  bool isDisturbed(std::int64_t id) const { return disturbed_.contains(id); }
  // The mask of a process's iterations with all probes: bits of model::kProbeWords. 0: the process
  // has no iterations, or their probes are unknown.
  std::int64_t fullMaskOf(std::int64_t processId) const;

 private:
  std::unordered_set<std::int64_t> masked_;
  store::IterationHolders holders_;                           // of inner ones
  std::unordered_set<std::int64_t> disturbed_;                // all of them are masked
  std::unordered_map<std::int64_t, std::int64_t> fullMasks_;  // by process
};

}  // namespace sonde::engine::iterations
