#include "analysis/engine/align/envelope.h"

#include <algorithm>

namespace sonde::engine::align {
namespace {

constexpr std::int64_t kMostStretches = 128;

// Lengths of stretches are powers of two, so that longer ones consist of whole shorter ones.
int stretchBitsOf(const std::vector<Bound>& bounds) {
  const std::int64_t lengthNs = bounds.back().sentNs - bounds.front().sentNs;
  int bits = 0;
  while ((lengthNs >> bits) > kMostStretches)
    ++bits;
  return bits;
}

// Whether `middle` is on or above the line from `left` to `right`.
bool isAbove(const Bound& left, const Bound& middle, const Bound& right) {
  const auto run = [&](const Bound& to) {
    return static_cast<long double>(to.sentNs - left.sentNs);
  };
  const auto rise = [&](const Bound& to) {
    return static_cast<long double>(to.apartNs - left.apartNs);
  };
  return rise(middle) * run(right) >= rise(right) * run(middle);
}

}  // namespace

void Envelope::add(const Bound& bound) {
  ++count_;
  kept_.push_back(bound);
  isReduced_ = false;
  if (kept_.size() >= limit_) {
    reduce();
    limit_ = std::max(limit_, 2 * kept_.size());
  }
}

const std::vector<Bound>& Envelope::bounds() {
  if (!isReduced_)
    reduce();
  return kept_;
}

// Andrew's monotone chain, for each stretch.
void Envelope::reduce() {
  std::sort(kept_.begin(), kept_.end(), [](const Bound& a, const Bound& b) {
    return a.sentNs != b.sentNs ? a.sentNs < b.sentNs : a.apartNs < b.apartNs;
  });
  const int bits = stretchBitsOf(kept_);
  std::vector<Bound> hull;
  std::size_t first = 0;  // of the hull's bounds in the current stretch
  for (const Bound& bound : kept_) {
    if (!hull.empty() && bound.sentNs == hull.back().sentNs)
      continue;
    if (!hull.empty() && (bound.sentNs >> bits) != (hull.back().sentNs >> bits))
      first = hull.size();
    while (hull.size() >= first + 2 && isAbove(hull[hull.size() - 2], hull.back(), bound))
      hull.pop_back();
    hull.push_back(bound);
  }
  kept_ = std::move(hull);
  isReduced_ = true;
}

}  // namespace sonde::engine::align
