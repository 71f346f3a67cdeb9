// The iterations of a trace, and which of them do not count: not all of one was recorded, the
// recorder stored during it, or it is inside another one. Only this class reads and decides it, so
// that all results cover the same iterations. Reading uses the database's thread; then plain
// values.
#pragma once

#include "analysis/model/row.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sonde::engine::iterations {

// A row of table iteration. Times are as its host has them; whoever computes with them checks them.
struct Iteration {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::int64_t threadId = 0;  // 0: unknown
  std::int64_t number = 0;
  std::int64_t startNs = 0;
  std::optional<std::int64_t>
      durNs;  // none: it was open when its process ended, or its end is lost
  std::optional<std::int64_t> atMostNs;  // if its end is lost: until the next one begins
  std::int64_t probeMask = 0;            // bits of model::kProbeWords; 0: outline, or unknown
  std::optional<double> samples;
  std::optional<double> tokens;
  std::optional<double> flops;

  std::int64_t holder = 0;  // the iteration directly around it; 0: none
  bool isMasked = false;    // false for inner ones
  bool isDisturbed =
      false;  // the recorder stored during it; then it is masked, unless probes were off

  // Whether it lies inside another iteration of its thread; its time then belongs to that one.
  bool isInner() const noexcept { return holder != 0; }
  // Requires: durNs.
  std::int64_t endNs() const noexcept;

  SONDE_COLUMNS(
      id, processId, threadId, number, startNs, durNs, atMostNs, probeMask, samples, tokens, flops)
};

class Iterations {
 public:
  // Masks iterations in which not all probes recorded that the run asked for (`meta.sources`; if
  // unknown, all probes that the process ever had). This includes iterations in outline. It also
  // masks the first one with all probes after some were off: hooks were just installed, and caches
  // still hold the previous data. A trace without information on probes, such as an imported one,
  // has none. In a run with --calibrate it also masks iterations during which the recorder of their
  // host stored, since no event accounts for that processor time. It does not if too few iterations
  // of a process would be left with all probes, or with some off.
  static Result<Iterations> read(const store::Database& trace);

  // By start, then by id.
  const std::vector<Iteration>& all() const noexcept { return all_; }
  // The mask of a process's iterations with all probes: bits of model::kProbeWords. 0: the process
  // has no iterations, or their probes are unknown.
  std::int64_t fullMaskOf(std::int64_t processId) const;

 private:
  std::vector<Iteration> all_;
  std::unordered_map<std::int64_t, std::int64_t> fullMasks_;  // by process
};

}  // namespace sonde::engine::iterations
