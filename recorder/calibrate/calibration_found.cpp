#include "recorder/calibrate/calibration_found.h"

#include "analysis/store/database.h"
#include "analysis/store/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

namespace sonde::recorder {
namespace {

using nlohmann::json;

// The width of a 95 % interval of a normal error, in standard errors.
constexpr double kInterval = 1.96;

Result<std::optional<std::string>> textOf(const store::Database& trace, const char* sql) {
  auto text = trace.queryText(sql);
  if (text)
    return std::optional(*std::move(text));
  if (text.error().code == ErrorCode::NotFound)
    return std::optional<std::string>();
  return text.error();
}

// Parses meta.calibrated. nlohmann throws if a key is missing or has another type.
Result<CalibrationFound> parsed(const std::string& text) {
  CalibrationFound found;
  const json document = json::parse(text, nullptr, false);
  try {
    found.iterationNs = document.at("iteration_ns");
    found.overheadNs = document.at("overhead_ns");
    found.errorNs = document.at("error_ns");
    found.noiseNs = document.at("noise_ns");
    found.iterations = document.at("iterations");
    found.blocks = document.at("blocks");
    for (const json& probe : document.at("probes"))
      found.probes.push_back(
          {probe.at("probe"), probe.at("ns"), probe.at("error_ns"), probe.value("found", true)});
  } catch (const json::exception& error) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("the trace is damaged: its meta.calibrated: {}", error.what())};
  }
  std::stable_sort(found.probes.begin(), found.probes.end(), [](const auto& a, const auto& b) {
    return a.ns > b.ns;
  });
  return found;
}

// The reason for no result, in a run in which no probe was off in any iteration.
Result<std::string> whyNone(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t iterations,
                   trace.queryInteger("SELECT count(*) FROM iteration WHERE dur_ns >= 0"));
  if (iterations == 0)
    return std::string(
        "the run had no iterations: mark them with sonde.iteration(), or record the torch source");
  SONDE_TRY_ASSIGN(const auto block,
                   textOf(trace, "SELECT value FROM meta WHERE key = 'calibrate'"));
  return fmt::format(
      "all probes were on in all {} iterations: blocks of {} alternate, so run more iterations, or "
      "make the blocks shorter with --calibrate=N",
      iterations,
      block.value_or("some"));
}

double percentOf(double ns, const CalibrationFound& found) {
  return 100 * ns / found.iterationNs;
}

// "torch 2.2, net 0.6": the probes that the run has measured, or the others.
std::string listOf(const CalibrationFound& of, bool found) {
  std::string list;
  for (const CalibrationFound::Probe& probe : of.probes)
    if (probe.found == found)
      list +=
          fmt::format("{}{} {:.1f}", list.empty() ? "" : ", ", probe.name, percentOf(probe.ns, of));
  return list;
}

}  // namespace

Result<CalibrationFound> readCalibration(const std::filesystem::path& path) {
  SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
  SONDE_TRY_ASSIGN(const auto found,
                   textOf(trace, "SELECT value FROM meta WHERE key = 'calibrated'"));
  if (found)
    return parsed(*found);
  SONDE_TRY_ASSIGN(const auto note,
                   textOf(trace, "SELECT text FROM note WHERE source = 'calibration' LIMIT 1"));
  CalibrationFound none;
  if (note) {
    none.whyNot = *note;
    return none;
  }
  SONDE_TRY_ASSIGN(none.whyNot, whyNone(trace));
  return none;
}

std::string calibrationLine(const CalibrationFound& found) {
  if (!found.whyNot.empty())
    return fmt::format("the cost of recording could not be measured: {}", found.whyNot);
  if (!(found.iterationNs > 0) || !std::isfinite(found.overheadNs) || !std::isfinite(found.errorNs))
    return "the cost of recording could not be measured: iterations have no duration";
  const std::string shown = listOf(found, true);
  const std::string known = listOf(found, false);
  const std::string line = fmt::format("recording takes {:.1f} % ± {:.1f} % of an iteration{}",
                                       percentOf(found.overheadNs, found),
                                       kInterval * percentOf(found.errorNs, found),
                                       shown.empty() ? "" : fmt::format(" ({})", shown));
  if (known.empty())
    return line;
  return fmt::format(
      "{}; the run could not improve on these known costs (too short, too noisy, or cuda, whose "
      "CUPTI is never off): {}",
      line,
      known);
}

json calibrationJson(const CalibrationFound& found) {
  if (!found.whyNot.empty())
    return {{"iteration_ns", nullptr},
            {"overhead_ns", nullptr},
            {"error_ns", nullptr},
            {"noise_ns", nullptr},
            {"iterations", nullptr},
            {"blocks", nullptr},
            {"probes", json::array()},
            {"reason", found.whyNot}};
  json document = {{"iteration_ns", std::llround(found.iterationNs)},
                   {"overhead_ns", std::llround(found.overheadNs)},
                   {"error_ns", std::llround(found.errorNs)},
                   {"noise_ns", std::llround(found.noiseNs)},
                   {"iterations", found.iterations},
                   {"blocks", found.blocks},
                   {"probes", json::array()},
                   {"reason", nullptr}};
  for (const CalibrationFound::Probe& probe : found.probes)
    document["probes"].push_back({{"probe", probe.name},
                                  {"ns", std::llround(probe.ns)},
                                  {"error_ns", std::llround(probe.errorNs)},
                                  {"found", probe.found}});
  return document;
}

}  // namespace sonde::recorder
