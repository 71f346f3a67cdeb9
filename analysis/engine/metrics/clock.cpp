#include "analysis/engine/metrics/clock.h"

#include "analysis/engine/correction/error_interval.h"

#include <cmath>
#include <cstddef>

namespace sonde::engine::metrics {

using correction::Correction;

Result<Clocks> Clocks::read(const store::Database& trace, const correction::CostSet* measured) {
  Clocks clocks;
  SONDE_TRY_ASSIGN(clocks.correction_, correction::readCorrection(trace, measured));
  if (measured != nullptr)
    clocks.measured_ = *measured;
  const std::size_t causes = clocks.correction_ ? clocks.correction_->causes() : 0;
  for (std::size_t cause = 0; cause < causes; ++cause)
    for (const Correction::Error error : {Correction::Error::Higher, Correction::Error::Lower})
      clocks.errors_.push_back(clocks.correction_->timesWith(cause, error));
  return clocks;
}

std::vector<Clock> Clocks::all() const {
  std::vector<Clock> clocks(1);
  if (!correction_)
    return clocks;
  clocks.emplace_back(correction_->times);
  for (const correction::CorrectedTimes& error : errors_)
    clocks.emplace_back(error);
  return clocks;
}

double standardError(const std::vector<std::int64_t>& byClock) {
  double variance = 0;
  for (std::size_t at = 2; at + 1 < byClock.size(); at += 2)
    variance += std::pow(static_cast<double>(byClock[at] - byClock[at + 1]) / 2, 2);
  return std::sqrt(variance);
}

CorrectedNs withInterval(const std::vector<std::int64_t>& byClock,
                         const correction::Unexplained& unexplained) {
  const std::int64_t raw = byClock.front();
  const std::int64_t ns = byClock.size() > 1 ? byClock[1] : raw;
  correction::ErrorInterval interval(raw, ns);
  for (std::size_t at = 2; at + 1 < byClock.size(); at += 2)
    interval.add(byClock[at], byClock[at + 1]);
  interval.add(unexplained);
  return {ns, raw, interval.lowNs(), interval.highNs()};
}

}  // namespace sonde::engine::metrics
