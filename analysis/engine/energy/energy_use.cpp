#include "analysis/engine/energy/energy_use.h"

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/breakdown/operation_spans.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sonde::engine::energy {
namespace {

using breakdown::Label;
using breakdown::ProcessOperations;
using breakdown::Span;
using metrics::RankProcess;
using store::Statement;

constexpr std::string_view kMeterSql =
    "SELECT c.id, n.text, c.host_id, c.device_id, c.unit = 'W', coalesce(d.kind || ' ' || "
    "d.ordinal, h.name) FROM counter c JOIN string n ON n.id = c.name_id JOIN host h ON h.id = "
    "c.host_id LEFT JOIN device d ON d.id = c.device_id WHERE c.process_id IS NULL AND ((c.unit = "
    "'J' AND c.kind = 'total') OR (c.unit = 'W' AND n.text = 'GPU power')) "
    "ORDER BY c.host_id, c.device_id, c.unit, n.text, c.id";

struct Meter {
  std::int64_t counterId;
  std::string name;
  std::int64_t hostId;
  std::optional<std::int64_t> deviceId;
  bool ofPower;
  std::string place;
};

// Skips power meters of devices that have energy meters.
Result<std::vector<Meter>> readMeters(const store::Database& trace) {
  std::vector<Meter> meters;
  std::set<std::int64_t> withEnergy;
  SONDE_TRY(store::forEachRow(trace, kMeterSql, [&](const Statement& row) -> Result<void> {
    Meter meter{row.integer(0),
                std::string(row.text(1)),
                row.integer(2),
                row.optionalInteger(3),
                row.integer(4) != 0,
                std::string(row.text(5))};
    if (meter.ofPower && (!meter.deviceId || withEnergy.contains(*meter.deviceId)))
      return {};
    if (meter.deviceId)
      withEnergy.insert(*meter.deviceId);
    meters.push_back(std::move(meter));
    return {};
  }));
  return meters;
}

// Reads once what all meters need.
class Uses {
 public:
  Uses(const store::Database& trace,
       const std::vector<RankProcess>& ranks,
       const std::vector<metrics::Throughput>& throughput,
       const std::optional<metrics::Interval>& within)
      : trace_(trace), ranks_(ranks), throughput_(throughput), within_(within) {}

  Result<void> prepare() {
    SONDE_TRY_ASSIGN(clock_, align::JobClock::read(trace_));
    SONDE_TRY_ASSIGN(operations_, breakdown::readOperationSpans(trace_));
    for (ProcessOperations& process : operations_)
      operationsOf_[process.processId()] = &process;
    return store::forEachRow(
        trace_, "SELECT id, host_id FROM process", [&](const Statement& row) -> Result<void> {
          hostOf_[row.integer(0)] = row.integer(1);
          return {};
        });
  }

  // Unset for a meter that belongs to no rank, or that was not read in the ranks' windows.
  Result<std::optional<EnergyUse>> of(const Meter& meter) {
    labels_.clear();
    names_.clear();
    std::vector<Span> spans;
    std::set<std::int64_t> processes;
    if (meter.deviceId) {
      SONDE_TRY(readDevice(*meter.deviceId, spans, processes));
    } else {
      takeHost(meter.hostId, spans, processes);
    }
    const metrics::Interval window = limited(windowOf(processes), meter.hostId);
    SONDE_TRY_ASSIGN(std::vector<Reading> readings, readReadings(meter));
    EnergyUse use;
    use.meter = meter.name;
    use.place = meter.place;
    use.isDevice = meter.deviceId.has_value();
    use.fromPower = meter.ofPower;
    use.energy = shareEnergy(readings, spans, names_.size(), window);
    if (use.energy.measured.end <= use.energy.measured.begin)
      return std::optional<EnergyUse>();
    SONDE_TRY(nameOperations(use));
    addRates(processes, use);
    return std::optional(std::move(use));
  }

 private:
  Label labelOf(std::uint32_t operation) {
    const auto [label, isNew] = labels_.try_emplace(operation, static_cast<Label>(names_.size()));
    if (isNew)
      names_.push_back(operation);
    return label->second;
  }

  void takeHost(std::int64_t hostId, std::vector<Span>& spans, std::set<std::int64_t>& processes) {
    for (const auto& [process, host] : hostOf_)
      if (host == hostId)
        processes.insert(process);
    for (const ProcessOperations& process : operations_)
      if (processes.contains(process.processId()))
        for (const Span& span : process.spans())
          spans.push_back({span.begin, span.end, labelOf(span.label)});
  }

  Result<void> readDevice(std::int64_t deviceId,
                          std::vector<Span>& spans,
                          std::set<std::int64_t>& processes) {
    SONDE_TRY_ASSIGN(
        Statement rows,
        trace_.prepare("SELECT r.process_id, k.scope_id, k.start_ns, k.start_ns + k.dur_ns FROM "
                       "stream r JOIN kernel k ON k.stream_id = r.id WHERE r.device_id = ?1 AND "
                       "k.dur_ns > 0 UNION ALL SELECT r.process_id, k.scope_id, k.start_ns, "
                       "k.start_ns + k.dur_ns FROM stream r JOIN copy k ON k.stream_id = r.id "
                       "WHERE r.device_id = ?1 AND k.dur_ns > 0"));
    rows.bind(1, deviceId);
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        return {};
      processes.insert(rows.integer(0));
      spans.push_back({rows.integer(2),
                       rows.integer(3),
                       labelOf(operationOf(rows.integer(0), rows.integer(1)))});
    }
  }
  std::uint32_t operationOf(std::int64_t processId, std::int64_t scopeId) {
    const auto process = operationsOf_.find(processId);
    return process == operationsOf_.end() ? 0 : process->second->operationOf(scopeId);
  }

  // From the first begin to the last end of the ranks' windows, for ranks in `processes`.
  metrics::Interval windowOf(const std::set<std::int64_t>& processes) const {
    metrics::Interval window{INT64_MAX, INT64_MIN};
    for (const RankProcess& rank : ranks_) {
      if (!processes.contains(rank.processId))
        continue;
      window.begin = std::min(window.begin, rank.window.begin);
      window.end = std::max(window.end, rank.window.end);
    }
    return window;
  }

  // The part of a host's time in the range.
  metrics::Interval limited(metrics::Interval time, std::int64_t hostId) const {
    if (!within_)
      return time;
    const align::HostClock clock = clock_.clockOf(hostId);
    return {std::max(time.begin, clock.toHost(within_->begin)),
            std::min(time.end, clock.toHost(within_->end))};
  }

  Result<std::vector<Reading>> readReadings(const Meter& meter) const {
    SONDE_TRY_ASSIGN(Statement rows,
                     trace_.prepare("SELECT ts_ns, value FROM sample WHERE counter_id = ?1 AND "
                                    "value IS NOT NULL ORDER BY ts_ns"));
    rows.bind(1, meter.counterId);
    std::vector<Reading> readings;
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        return meter.ofPower ? integrated(readings) : readings;
      if (readings.empty() || readings.back().ns < rows.integer(0))
        readings.push_back({rows.integer(0), rows.real(1)});
    }
  }

  Result<void> nameOperations(EnergyUse& use) const {
    SONDE_TRY_ASSIGN(Statement text, trace_.prepare("SELECT text FROM string WHERE id = ?1"));
    for (std::size_t label = 0; label < names_.size(); ++label) {
      if (use.energy.shares[label].activeNs == 0)
        continue;
      SONDE_TRY_ASSIGN([[maybe_unused]] const bool isThere, text.bindAll(names_[label]).step());
      use.operations.push_back(
          {names_[label] == 0 ? "(outside)" : std::string(text.text(0)), use.energy.shares[label]});
      text.reset();
    }
    std::stable_sort(use.operations.begin(),
                     use.operations.end(),
                     [](const OperationEnergy& a, const OperationEnergy& b) {
                       return a.share.joules > b.share.joules;
                     });
    return {};
  }

  void addRates(const std::set<std::int64_t>& processes, EnergyUse& use) const {
    const auto seconds = [](metrics::Interval time) {
      return static_cast<double>(time.end - time.begin) * 1e-9;
    };
    const double watts = use.energy.joules / seconds(use.energy.measured);
    use.watts = watts;
    std::optional<double> samples = 0;
    std::optional<double> tokens = 0;
    double iterating = 0;  // seconds, of the rank with the most iterations
    for (std::size_t at = 0; at < ranks_.size(); ++at) {
      if (!processes.contains(ranks_[at].processId))
        continue;
      if (const auto count = static_cast<std::int64_t>(ranks_[at].iterations.size());
          count > use.iterations) {
        use.iterations = count;
        iterating =
            static_cast<double>(metrics::totalLength(metrics::countedOf(ranks_[at]))) * 1e-9;
      }
      const auto add = [](std::optional<double>& sum, const std::optional<double>& one) {
        sum = sum && one ? std::optional(*sum + *one) : std::nullopt;
      };
      add(samples, at < throughput_.size() ? throughput_[at].samplesPerSecond : std::nullopt);
      add(tokens, at < throughput_.size() ? throughput_[at].tokensPerSecond : std::nullopt);
    }
    if (use.iterations > 0)
      use.joulesPerIteration = watts * iterating / static_cast<double>(use.iterations);
    if (samples && watts > 0)
      use.samplesPerJoule = *samples / watts;
    if (tokens && watts > 0)
      use.tokensPerJoule = *tokens / watts;
  }

  const store::Database& trace_;
  const std::vector<RankProcess>& ranks_;
  const std::vector<metrics::Throughput>& throughput_;
  std::optional<metrics::Interval> within_;
  align::JobClock clock_;
  std::vector<ProcessOperations> operations_;
  std::unordered_map<std::int64_t, ProcessOperations*> operationsOf_;
  std::map<std::int64_t, std::int64_t> hostOf_;  // of processes
  std::map<std::uint32_t, Label> labels_;        // of operations, for one meter
  std::vector<std::uint32_t> names_;             // by label
};

}  // namespace

Result<std::vector<EnergyUse>> energyUses(const store::Database& trace,
                                          const std::vector<RankProcess>& ranks,
                                          const std::vector<metrics::Throughput>& throughput,
                                          const std::optional<metrics::Interval>& within) {
  SONDE_TRY_ASSIGN(const std::vector<Meter> meters, readMeters(trace));
  std::vector<EnergyUse> found;
  if (meters.empty())
    return found;
  Uses uses(trace, ranks, throughput, within);
  SONDE_TRY(uses.prepare());
  for (const Meter& meter : meters) {
    SONDE_TRY_ASSIGN(std::optional<EnergyUse> use, uses.of(meter));
    if (use)
      found.push_back(*std::move(use));
  }
  return found;
}

}  // namespace sonde::engine::energy
