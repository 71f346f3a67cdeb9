#include "analysis/ingest/trace_event/counter_events.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

constexpr std::size_t kInMemory = 300'000;  // 12 MB
// The argument's name of a counter that has no unit, and the kind of what is no counter of a
// machine; both as `sonde export` writes them.
constexpr std::string_view kNoUnit = "value";
constexpr std::string_view kScalar = "scalar";

}  // namespace

CounterEvents::CounterEvents(const std::filesystem::path& folder) : staged_(folder, kInMemory) {}

// In another tool's file an argument's name tells counters apart; in an export it is the unit.
std::uint32_t CounterEvents::seriesOf(const TraceEvent& event,
                                      std::string_view argument,
                                      bool alone,
                                      std::optional<std::size_t> process) {
  Series series;
  series.isScalar = event.kind == kScalar;
  series.name = alone ? std::string(event.name) : fmt::format("{} {}", event.name, argument);
  if (!event.kind.empty() && argument != kNoUnit)
    series.unit = argument;
  series.process = process;
  const auto [found, fresh] =
      numbers_.try_emplace(std::move(series), static_cast<std::uint32_t>(series_.size()));
  if (fresh)
    series_.push_back(&found->first);
  return found->second;
}

Result<bool> CounterEvents::add(const TraceEvent& event, std::optional<std::size_t> process) {
  const nlohmann::json args = nlohmann::json::parse(event.args.json, nullptr, false);
  bool any = false;
  if (!args.is_object())
    return any;
  for (const auto& [key, value] : args.items()) {
    if (!value.is_number())
      continue;
    any = true;
    Staged sample{};
    sample.ns = *event.startNs;
    sample.value = value.get<double>();
    sample.iteration = event.iteration.value_or(0);
    sample.hasIteration = event.iteration.has_value();
    sample.series = seriesOf(event, key, args.size() == 1, process);
    SONDE_TRY(staged_.add(sample));
  }
  return any;
}

Result<CounterEvents::Rows> CounterEvents::rowsOf(store::TraceWriter& writer,
                                                  const ImportedPlaces& places,
                                                  const Series& series) {
  const std::size_t process =
      series.process ? places.settled(*series.process) : ImportedPlaces::kMain;
  Rows rows;
  rows.process = places.idOf(process);
  SONDE_TRY_ASSIGN(rows.name, writer.intern(series.name));
  if (series.isScalar)
    return rows;
  model::Counter row;
  row.hostId = places.host(process);
  row.processId = series.process ? rows.process : model::ProcessId{};
  row.nameId = rows.name;
  row.unit = series.unit;
  SONDE_TRY_ASSIGN(rows.counter, writer.add(row));
  return rows;
}

Result<void> CounterEvents::store(store::TraceWriter& writer,
                                  const Rows& rows,
                                  const Staged& sample) {
  if (rows.counter)
    return writer.add(model::Sample{rows.counter, sample.ns, sample.value});
  model::Scalar row;
  row.processId = rows.process;
  if (sample.hasIteration)
    row.iteration = sample.iteration;
  row.nameId = rows.name;
  row.value = sample.value;
  row.tsNs = sample.ns;
  return writer.add(row);
}

Result<void> CounterEvents::finish(store::TraceWriter& writer,
                                   const ImportedPlaces& places,
                                   std::int64_t shiftNs) {
  SONDE_TRY(staged_.sort());
  std::optional<std::uint32_t> at;
  Rows rows;
  for (Staged sample{};;) {
    SONDE_TRY_ASSIGN(const bool more, staged_.next(sample));
    if (!more)
      return {};
    if (at != sample.series) {
      at = sample.series;
      SONDE_TRY_ASSIGN(rows, rowsOf(writer, places, *series_[sample.series]));
    }
    sample.ns += shiftNs;
    SONDE_TRY(store(writer, rows, sample));
  }
}

}  // namespace sonde::ingest
