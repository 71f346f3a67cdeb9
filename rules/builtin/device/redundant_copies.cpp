#include "analysis/engine/device/round_trips.h"
#include "analysis/store/statement.h"
#include "rules/builtin/device/device_judge.h"
#include "rules/builtin/device/device_rules.h"
#include "rules/builtin/series.h"

#include <fmt/format.h>

#include <string>

namespace sonde::rules {
namespace {

using engine::device::RoundTrips;
using engine::metrics::RankProcess;

// Empty: it has none.
Result<std::string> scopeName(const store::Database& trace, std::int64_t sliceId) {
  SONDE_TRY_ASSIGN(store::Statement row,
                   trace.prepare("SELECT n.text FROM slice s JOIN string n ON n.id = s.name_id "
                                 "WHERE s.id = ?1"));
  row.bind(1, sliceId);
  SONDE_TRY_ASSIGN(const bool isThere, row.step());
  return isThere ? std::string(row.text(0)) : std::string();
}

std::int64_t iterationNs(const RankProcess& rank) {
  std::int64_t sum = 0;
  for (const engine::metrics::IterationTime& each : rank.iterations)
    sum += each.durNs;
  return sum;
}

Outcome judgeRoundTrips(const RankProcess& rank,
                        const RoundTrips& trips,
                        const std::string& scope,
                        const Parameters& parameters) {
  Outcome outcome;
  outcome.samples = trips.copies;
  if (rank.iterations.empty()) {
    outcome.message =
        "no iteration was recorded: mark iterations with sonde.iteration(), or record the torch "
        "source with an optimiser";
    return outcome;
  }
  outcome.window = windowOf(rank.iterations.front().number, rank.iterations.back().number);
  outcome.time = TimeRange{rank.window.begin, rank.window.end};
  if (trips.unsized > 0 && trips.unsized == trips.copies) {
    outcome.message = "the trace does not have the sizes of copies, so none can be recognised";
    return outcome;
  }
  const auto allNs = static_cast<double>(iterationNs(rank));
  decide(
      outcome, allNs > 0 ? static_cast<double>(trips.ns) / allNs : 0, parameters.real("max_share"));
  outcome.evidence = {{"round_trips", trips.trips},
                      {"bytes", trips.bytes},
                      {"ns", trips.ns},
                      {"iterations", trips.iterations}};
  if (trips.trips == 0) {
    outcome.message = "no copy to the host comes back in the same iteration";
    return outcome;
  }
  if (!scope.empty())
    outcome.evidence["scope"] = scope;
  outcome.message = fmt::format(
      "{} copies to the host are followed by a copy back of the same size, {:.1f} MB each way; "
      "they take {:.1f} % of the iterations{}",
      trips.trips,
      static_cast<double>(trips.bytes) / 1e6,
      100 * *outcome.value,
      scope.empty() ? "" : fmt::format(", the largest in {}", scope));
  outcome.query =
      "SELECT kind, bytes, scope, count(*), sum(dur_ns) FROM v_copy WHERE kind IN "
      "('device_to_host', 'host_to_device') GROUP BY 1, 2, 3 ORDER BY 2 DESC";
  return outcome;
}

Result<std::vector<Finding>> judgeRedundantCopies(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  std::vector<Finding> findings;
  for (const RankProcess& rank : list->ranks) {
    SONDE_TRY_ASSIGN(const auto devices,
                     engine::device::readDevices(facts.trace(), rank.processId));
    for (const engine::device::DeviceWork& device : devices) {
      const RoundTrips trips =
          roundTripsIn(device, rank.iterations, parameters.integer("min_bytes"));
      SONDE_TRY_ASSIGN(const std::string scope, scopeName(facts.trace(), trips.scopeId));
      findings.push_back(
          {devices.size() > 1 ? fmt::format("{}, {}", rank.name, device.name) : rank.name,
           judgeRoundTrips(rank, trips, scope, parameters)});
    }
  }
  if (findings.empty()) {
    findings.push_back({"job", {}});
    findings.back().outcome.verdict = Verdict::Skipped;
    findings.back().outcome.message = "no rank gave work to a device";
  }
  return findings;
}

}  // namespace

RuleInfo redundantCopies() {
  RuleInfo info;
  info.name = "redundant-copies";
  info.profile = Profile::Performance;
  info.summary = "data goes from a device to the host and back in one iteration";
  info.details =
      "A round trip is a copy from a device to the host and, behind it in the same iteration, a "
      "copy of as many bytes back.\n"
      "Traces have neither addresses nor contents of copies, so the size alone decides; copies of "
      "fewer than `min_bytes`\n"
      "do not count. Fires if round trips take more than `max_share` of the time of the "
      "iterations.";
  info.needs = "cuda";
  info.hint =
      "keep the data on the device: look for .cpu() and .numpy() followed by .to(device); if the "
      "host stores it on purpose (offloading), switch the rule off";
  info.next = {"sonde report TRACE", "sonde breakdown TRACE"};
  info.parameters = {
      {"max_share", 0.02, "largest healthy share of the iterations' time", 0, 1},
      {"min_bytes", std::int64_t{65'536}, "smaller copies do not count", 1, 1e18},
  };
  info.judge = judgeIfDevices(judgeRedundantCopies);
  return info;
}

}  // namespace sonde::rules
