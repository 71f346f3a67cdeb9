#include "analysis/engine/correction/cost_spans.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::correction {

std::vector<CostSpan> costSpans(const Timeline& times,
                                std::int64_t beginNs,
                                std::int64_t endNs,
                                std::int64_t stepNs) {
  constexpr double kShareSteps = 32;
  std::vector<CostSpan> spans;
  if (times.knots().empty())
    return spans;
  Timeline::Cursor corrected(times);
  std::int64_t correctedBegin = corrected(beginNs);
  for (std::int64_t begin = beginNs; begin < endNs;) {
    const std::int64_t end = begin + std::min(stepNs, endNs - begin);
    const std::int64_t correctedEnd = corrected(end);
    const auto lengthNs = static_cast<double>(end - begin);
    const double costNs = lengthNs - static_cast<double>(correctedEnd - correctedBegin);
    const double share = std::round(costNs / lengthNs * kShareSteps) / kShareSteps;
    if (share > 0 && !spans.empty() && spans.back().endNs == begin && spans.back().share == share)
      spans.back().endNs = end;
    else if (share > 0)
      spans.push_back({begin, end, share});
    begin = end;
    correctedBegin = correctedEnd;
  }
  return spans;
}

}  // namespace sonde::engine::correction
