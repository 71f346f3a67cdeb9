#include "recorder/system/readings.h"

#include <utility>

namespace sonde::recorder::system {

std::size_t Readings::define(Metric metric) {
  batch_.metrics.push_back(std::move(metric));
  series_.emplace_back();
  return series_.size() - 1;
}

void Readings::add(std::size_t metric, double value) {
  Series& series = series_[metric];
  const bool isFirst = series.handedNs == 0;
  if (isFirst || value != series.value) {
    if (!isFirst)
      hand(metric, series.seenNs);
    series.value = value;
    hand(metric, nowNs_);
  }
  series.seenNs = nowNs_;
}

void Readings::close(std::size_t metric) {
  if (series_[metric].handedNs != 0)
    hand(metric, series_[metric].seenNs);
}

void Readings::closeAll() {
  for (std::size_t metric = 0; metric < series_.size(); ++metric)
    close(metric);
}

void Readings::hand(std::size_t metric, std::int64_t ns) {
  Series& series = series_[metric];
  if (ns == series.handedNs)
    return;
  batch_.readings.push_back({metric, ns, series.value});
  series.handedNs = ns;
}

Batch Readings::take() {
  return std::exchange(batch_, {});
}

}  // namespace sonde::recorder::system
