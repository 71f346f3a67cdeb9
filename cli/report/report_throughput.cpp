#include "cli/report/report_throughput.h"

#include "cli/text/json_value.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;
using metrics::Throughput;

std::string quantity(double value) {
  constexpr std::array<const char*, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; value >= 1000 && prefix + 1 < kPrefixes.size(); ++prefix)
    value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, kPrefixes[prefix]);
}

// Empty: nothing is known.
std::string textOf(const Throughput& done) {
  std::string text;
  const auto add = [&text](const std::optional<double>& value, const char* unit) {
    if (value)
      text += fmt::format("{}{}{}/s", text.empty() ? "" : ", ", quantity(*value), unit);
  };
  add(done.samplesPerSecond, "samples");
  add(done.tokensPerSecond, "tokens");
  add(done.flopsPerSecond, "FLOP");
  if (done.mfu)
    text += fmt::format(" (MFU {:.1f} % of {}FLOP/s)", *done.mfu * 100, quantity(*done.peakFlops));
  return text;
}

void addTo(std::optional<double>& sum, const std::optional<double>& value, bool isFirst) {
  if (isFirst)
    sum = value;
  else if (sum && value)
    *sum += *value;
  else
    sum.reset();
}

// Sums of what is known for every rank.
Throughput together(const std::vector<Throughput>& ranks) {
  Throughput sum;
  sum.process = "all ranks";
  bool isFirst = true;
  for (const Throughput& rank : ranks) {
    addTo(sum.samplesPerSecond, rank.samplesPerSecond, isFirst);
    addTo(sum.tokensPerSecond, rank.tokensPerSecond, isFirst);
    addTo(sum.flopsPerSecond, rank.flopsPerSecond, isFirst);
    addTo(sum.peakFlops, rank.peakFlops, isFirst);
    isFirst = false;
  }
  if (sum.flopsPerSecond && sum.peakFlops)
    sum.mfu = *sum.flopsPerSecond / *sum.peakFlops;
  return sum;
}

nlohmann::json ratesJson(const Throughput& done) {
  return {{"samples_per_s", orNull(done.samplesPerSecond)},
          {"tokens_per_s", orNull(done.tokensPerSecond)},
          {"flops_per_s", orNull(done.flopsPerSecond)},
          {"mfu", orNull(done.mfu)}};
}

}  // namespace

Lines throughputLines(const JobReport& report, std::size_t limit) {
  std::vector<Throughput> rows;
  if (report.throughput.size() > 1)
    rows.push_back(together(report.throughput));
  rows.insert(rows.end(), report.throughput.begin(), report.throughput.end());
  Lines lines;
  for (const Throughput& row : rows) {
    const std::string text = textOf(row);
    if (!text.empty() && lines.size() < limit)
      appendLines(
          lines,
          fmt::format("{:<10} {}: {}", lines.empty() ? "Throughput" : "", row.process, text));
  }
  if (!lines.empty())
    lines.insert(lines.begin(), "");
  return lines;
}

nlohmann::json throughputJson(const JobReport& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t at = 0; at < report.throughput.size(); ++at) {
    const Throughput& rank = report.throughput[at];
    nlohmann::json row = ratesJson(rank);
    row["rank"] = orNull(rank.rank);
    row["iterations"] = rank.iterations;
    row["peak_flops_per_s"] = orNull(rank.peakFlops);
    row["raw"] = ratesJson(report.rawThroughput[at]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sonde::cli
