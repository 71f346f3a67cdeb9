#include "cli/report/report_times.h"

#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using engine::correction::Unexplained;

// "12 net transfer"
std::vector<std::string> unknownTexts(const RecordingCost& cost) {
  std::vector<std::string> unknown;
  for (const auto& [of, count] : cost.unknown)
    unknown.push_back(fmt::format("{} {} {}", humanCount(count), of.probe, of.api));
  return unknown;
}

nlohmann::json shareJson(const std::optional<double>& share) {
  return share ? nlohmann::json(*share) : nlohmann::json();
}

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

}  // namespace

std::string unexplainedText(const Unexplained& unexplained) {
  return fmt::format("iterations with probes off are {} % {} (± {} %), which no event explains",
                     percent(std::abs(unexplained.share)),
                     unexplained.share > 0 ? "even shorter" : "longer",
                     percent(Unexplained::kStandardErrors * unexplained.error));
}

std::string costText(const RecordingCost& cost) {
  constexpr std::size_t kNamed = 3;
  if (!cost.known || !cost.share())
    return "";
  const char* const of = cost.ofIterations ? "an iteration" : "the time";
  // The estimate of a cost close to zero may be negative.
  std::string text = cost.share().value() > 0
                         ? fmt::format("recording took {} % of {} ({} to {} %)",
                                       percent(cost.share().value()),
                                       of,
                                       percent(cost.low().value()),
                                       percent(cost.high().value()))
                         : fmt::format("recording took at most {} % of {}",
                                       percent(std::max(cost.high().value(), 0.0)),
                                       of);
  text += ", subtracted from these times";
  constexpr double kLeast = 0.005;  // a smaller share is not the reason for a high upper bound
  if (cost.unexplained.recorder >= kLeast)
    text += fmt::format("; {} allows for the recorder, which used {} % of a processor",
                        cost.share().value() > 0 ? "the upper figure" : "this",
                        percent(cost.unexplained.recorder));
  if (cost.unexplained.isCertain())
    text += "; " + unexplainedText(cost.unexplained);
  if (cost.unknown.empty())
    return text;
  std::vector<std::string> named = unknownTexts(cost);
  named.resize(std::min(kNamed, named.size()));
  text += fmt::format("; unknown cost: {}", fmt::join(named, ", "));
  return cost.unknown.size() > kNamed ? text + ", …" : text;
}

nlohmann::json unexplainedJson(const Unexplained& unexplained) {
  if (unexplained.error <= 0)
    return nullptr;
  return {{"share", unexplained.share}, {"error", unexplained.error}};
}

nlohmann::json costJson(const RecordingCost& cost) {
  return {{"corrected", cost.known},
          {"of", cost.ofIterations ? "iterations" : "window"},
          {"ns", cost.sum.ns},
          {"raw_ns", cost.sum.rawNs},
          {"low_ns", cost.sum.lowNs},
          {"high_ns", cost.sum.highNs},
          {"share", shareJson(cost.share())},
          {"low", shareJson(cost.low())},
          {"high", shareJson(cost.high())},
          {"unknown", unknownTexts(cost)},
          {"unexplained", unexplainedJson(cost.unexplained)},
          {"recorder_share", cost.unexplained.recorder}};
}

}  // namespace sonde::cli
