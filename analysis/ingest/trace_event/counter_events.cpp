#include "analysis/ingest/trace_event/counter_events.h"

#include "analysis/ingest/trace_event/small_json.h"

#include <fmt/format.h>

namespace sonde::ingest {
namespace {

constexpr std::size_t kCountersInMemory = 300'000;  // 12 MB
// The argument's name for a counter without a unit, and the kind of values that are not counters of
// a machine; both as `sonde export` writes them.
constexpr std::string_view kNoUnit = "value";
constexpr std::string_view kScalar = "scalar";

// Arguments that are not numbers are skipped.
bool isNumber(od::value value) {
  od::json_type type{};
  // NaN, Infinity and the like have no type.
  return value.type().get(type) != simdjson::SUCCESS || type == od::json_type::number;
}

}  // namespace

CounterEvents::CounterEvents(const std::filesystem::path& folder)
    : staged_(folder, kCountersInMemory) {}

// Named as in Chrome and Perfetto: other arguments of an event do not matter.
std::string CounterEvents::nameOf(const TraceEvent& event, std::string_view argument) {
  std::string name(event.name);
  if (!event.id.text.empty())
    name += fmt::format(" id: {}", event.id.text);
  if (argument != kNoUnit)
    name += fmt::format(" {}", argument);
  return name;
}

// In other tools' files an argument's name identifies the counter; in an export it is the unit.
std::uint32_t CounterEvents::seriesOf(const TraceEvent& event,
                                      std::string_view argument,
                                      std::optional<std::size_t> process) {
  Series series;
  series.isScalar = event.kind == kScalar;
  const bool isExport = !event.kind.empty();
  series.name = isExport ? std::string(event.name) : nameOf(event, argument);
  if (isExport && argument != kNoUnit)
    series.unit = argument;
  series.process = process;
  const auto [found, fresh] =
      numbers_.try_emplace(std::move(series), static_cast<std::uint32_t>(series_.size()));
  if (fresh)
    series_.push_back(&found->first);
  return found->second;
}

Result<CounterEvents::Added> CounterEvents::add(const TraceEvent& event,
                                                std::optional<std::size_t> process) {
  Added result;
  if (event.args.json.empty())
    return result;
  SmallJson args(event.args.json);
  if (!args.isValid)
    return result;
  Result<void> added;
  eachMember(args.document, [&](std::string_view key, od::value value) {
    double number = 0;
    if (!added || !isNumber(value))
      return;
    if (value.get_double().get(number) != simdjson::SUCCESS) {
      ++result.unreadable;
      return;
    }
    result.any = true;
    Staged sample{};
    sample.ns = *event.startNs;
    sample.value = number;
    sample.iteration = event.iteration.value_or(0);
    sample.hasIteration = event.iteration.has_value();
    sample.series = seriesOf(event, key, process);
    added = staged_.add(sample);
  });
  SONDE_TRY(added);
  return result;
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
                                   std::int64_t shiftNs,
                                   const TimeWindow& window) {
  SONDE_TRY(staged_.sort());
  std::optional<std::uint32_t> at;
  Rows rows;
  for (Staged sample{};;) {
    SONDE_TRY_ASSIGN(const bool more, staged_.next(sample));
    if (!more)
      return {};
    if (!window.holds(sample.ns, sample.ns)) {
      ++leftOut_;
      continue;
    }
    if (at != sample.series) {
      at = sample.series;
      SONDE_TRY_ASSIGN(rows, rowsOf(writer, places, *series_[sample.series]));
    }
    sample.ns += shiftNs;
    SONDE_TRY(store(writer, rows, sample));
  }
}

}  // namespace sonde::ingest
