#include "analysis/engine/metrics/clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::engine::metrics {
namespace {

// What 95 % of normal errors stay within, in standard errors.
constexpr double kInterval = 1.96;

}  // namespace

Result<Clocks> Clocks::read(const store::Database& trace, const correction::CostSet* measured) {
  Clocks clocks;
  SONDE_TRY_ASSIGN(clocks.correction_, correction::readCorrection(trace, measured));
  return clocks;
}

std::vector<Clock> Clocks::all() const {
  std::vector<Clock> clocks(1);
  if (!correction_)
    return clocks;
  clocks.emplace_back(correction_->times);
  for (const correction::CorrectedTimes& mode : correction_->modes)
    clocks.emplace_back(mode);
  return clocks;
}

double standardError(const std::vector<std::int64_t>& byClock) {
  double variance = 0;
  for (std::size_t mode = 2; mode < byClock.size(); ++mode)
    variance += std::pow(static_cast<double>(byClock[mode] - byClock[1]), 2);
  return std::sqrt(variance);
}

CorrectedNs withInterval(const std::vector<std::int64_t>& byClock) {
  const std::int64_t raw = byClock.front();
  const std::int64_t ns = byClock.size() > 1 ? byClock[1] : raw;
  const auto reach = static_cast<std::int64_t>(std::llround(kInterval * standardError(byClock)));
  return {ns, raw, std::max<std::int64_t>(ns - reach, 0), ns + reach};
}

}  // namespace sonde::engine::metrics
