#include "rules/builtin/system/gpu_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::rules {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::vector<double> lastOf(std::vector<double> values, const Parameters& parameters) {
  const auto warmup =
      std::min(values.size(), static_cast<std::size_t>(parameters.integer("warmup_s")));
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(warmup));
  const auto most = static_cast<std::size_t>(parameters.integer("window_s"));
  if (values.size() > most)
    values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(most));
  return values;
}

}  // namespace

std::vector<ParameterSpec> secondsParameters() {
  return {{"warmup_s", std::int64_t{30}, "first seconds to ignore", 0, 1e9},
          {"window_s", std::int64_t{300}, "newest seconds to judge", 1, 1e9},
          {"min_seconds", std::int64_t{20}, "with fewer the verdict is insufficient", 1, 1e9}};
}

std::vector<double> newestSeconds(const CounterSeries& series, const Parameters& parameters) {
  return lastOf(series.seconds(), parameters);
}

double percentileOf(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(fraction * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::string windowOfSeconds(std::size_t seconds) {
  return fmt::format("the last {} s", seconds);
}

Outcome gpuNotSampled(const RankList& list) {
  Outcome outcome;
  const bool wouldBeThere = !list.sources.empty() && list.mayHave("system");
  outcome.verdict = wouldBeThere ? Verdict::Skipped : Verdict::Insufficient;
  outcome.inputMissing = !wouldBeThere;
  outcome.message = wouldBeThere
                        ? "the machine has no GPU that NVIDIA's library reports"
                        : "the use of GPUs was not sampled: record it with --sources +system";
  return outcome;
}

std::vector<std::vector<double>> aligned(const std::vector<const CounterSeries*>& series,
                                         const Parameters& parameters) {
  std::int64_t firstNs = INT64_MIN;
  for (const CounterSeries* each : series)
    firstNs = std::max(firstNs, each->firstSecondNs());
  std::vector<std::vector<double>> values;
  std::size_t length = SIZE_MAX;
  for (const CounterSeries* each : series) {
    std::vector<double> all = each->seconds();
    const auto skip = std::min<std::size_t>(
        all.size(), static_cast<std::size_t>((firstNs - each->firstSecondNs()) / kSecondNs));
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(skip));
    length = std::min(length, all.size());
    values.push_back(std::move(all));
  }
  for (std::vector<double>& each : values) {
    each.resize(length);
    each = lastOf(std::move(each), parameters);
  }
  return values;
}

}  // namespace sonde::rules
