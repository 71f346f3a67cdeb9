// Where the cost of recording lies in the times of a thread or stream. Plain values; any thread.
#pragma once

#include "analysis/engine/correction/timeline.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::correction {

struct CostSpan {
  std::int64_t beginNs = 0;  // as recorded, not corrected
  std::int64_t endNs = 0;
  double share = 0;  // the part of it that is the cost, in (0, 1]
  friend bool operator==(const CostSpan&, const CostSpan&) = default;
};

// The recorded span [beginNs, endNs) in steps of `stepNs` from its begin, each with its share in
// 32nds. Steps without a cost are left out, and so are those in which a wait takes longer without
// recording; neighbours of the same share are one span. Requires: stepNs > 0.
std::vector<CostSpan> costSpans(const Timeline& times,
                                std::int64_t beginNs,
                                std::int64_t endNs,
                                std::int64_t stepNs);

}  // namespace sonde::engine::correction
