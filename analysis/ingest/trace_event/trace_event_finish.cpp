// The work of TraceEventImporter after all events: pairs, nests and joins them, and leaves out
// those with impossible times.
#include "analysis/ingest/trace_event/trace_event_importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::ingest {

void TraceEventImporter::describeDevices() {
  for (const auto& [ordinal, kind] : rows_.devices()) {
    ImportedPlaces::Device device;
    device.kind = kind;
    places_.describeDevice("", {}, ordinal, std::move(device));
  }
}

void TraceEventImporter::noteDevices() {
  if (repeats_ > 0)
    result_.warnings.push_back(
        fmt::format("{} events of rows that repeat the streams of devices were left out ({})",
                    repeats_,
                    fmt::join(rows_.repeating(), ", ")));
  if (rows_.lateNames() > 0)
    result_.warnings.push_back(fmt::format(
        "{} rows of devices are named after their events, so their events count as the host's",
        rows_.lateNames()));
  if (device_.ambiguous() > 0)
    result_.warnings.push_back(
        fmt::format("{} kernels and copies have a correlation that several processes use: their "
                    "launching calls are unknown, so they belong to no operation",
                    device_.ambiguous()));
}

void TraceEventImporter::noteRanks() {
  for (std::size_t process = 0; process < places_.processes(); ++process) {
    if (const auto rank = places_.rankOf(process))
      result_.ranks.insert(*rank);
    if (const auto size = places_.worldSizeOf(process))
      result_.worldSize = size;
  }
}

Result<void> TraceEventImporter::pairOpen() {
  storing_("pairing begins with ends", 0);
  SONDE_TRY_ASSIGN(
      const OpenEvents::Counts counts,
      open_.pair([this](OpenEvent open, model::OptionalInt durNs, std::string_view args) {
        return endSlice(open, durNs, args);
      }));
  result_.unpaired += counts.neverBegun;
  if (counts.neverEnded > 0)
    result_.warnings.push_back(fmt::format(
        "{} events have no end: they last until the end of the trace", counts.neverEnded));
  return {};
}

// Stores the base of the file's own times: a comparison with a reader that uses doubles needs it.
Result<void> TraceEventImporter::noteBase() {
  if (!hasFractions_)
    return {};
  SONDE_TRY_ASSIGN(const model::StringId key, writer_.intern("sonde.base_ns"));
  for (std::size_t process = 0; process < places_.processes(); ++process)
    SONDE_TRY(
        writer_.add(model::Arg{model::Owner::Process, places_.idOf(process).value, key, baseNs_}));
  return {};
}

Result<void> TraceEventImporter::finish() {
  if (!isExport_) {
    places_.settleMain();
    places_.setRankIfNone(rankInName_);
  }
  describeDevices();
  const TimeWindow window =
      isExport_ ? TimeWindow() : census_.window();  // the jobs of an export may take months
  SONDE_TRY(places_.finish(baseNs_, window));
  SONDE_TRY(noteBase());
  storing_("nesting slices", 0.1);
  SONDE_TRY(slices_.finish(writer_, baseNs_, window));
  storing_("joining kernels to their launches", 0.6);
  result_.arrows = slices_.looseArrows();
  SONDE_TRY(device_.finish(writer_, slices_, baseNs_, window));
  noteDevices();
  SONDE_TRY_ASSIGN(auto overlaps, device_.overlaps(writer_, baseNs_));
  std::move(overlaps.begin(), overlaps.end(), std::back_inserter(result_.warnings));
  storing_("storing counters", 0.9);
  SONDE_TRY(counters_.finish(writer_, places_, baseNs_, window));
  SONDE_TRY(finishIterations(window));
  SONDE_TRY(dropArgs());
  storing_("storing collectives", 0.95);
  for (auto& [process, collectives] : collectives_) {
    collectives.leaveOut(window);
    SONDE_TRY(collectives.finish(writer_,
                                 places_.idOf(process),
                                 places_.rankOf(process),
                                 places_.worldSizeOf(process),
                                 baseNs_));
  }
  return {};
}

Result<void> TraceEventImporter::finishIterations(const TimeWindow& window) {
  for (auto& [track, iteration] : iterations_) {
    if (!window.holds(iteration.startNs, iteration.startNs + iteration.durNs.value_or(0)))
      continue;
    iteration.processId = places_.processOf(track);
    iteration.startNs += baseNs_;
    SONDE_TRY(writer_.add(iteration));
  }
  return {};
}

// Drops the arguments of events that were left out because of impossible times.
Result<void> TraceEventImporter::dropArgs() {
  const DeviceEvents::LeftOut& work = device_.leftOut();
  const std::pair<std::string_view, const std::vector<std::int64_t>*> owners[] = {
      {"slice", &slices_.leftOut()},
      {"kernel", &work.kernels},
      {"copy", &work.copies},
      {"sync", &work.syncs}};
  std::uint64_t kept = counters_.leftOut();
  for (const auto& [owner, ids] : owners) {
    kept += ids->size();
    if (ids->empty())
      continue;
    store::Database& trace = writer_.database();
    SONDE_TRY(trace.exec("CREATE TEMP TABLE left_out(id INTEGER PRIMARY KEY)"));
    {
      SONDE_TRY_ASSIGN(store::Statement add, trace.prepare("INSERT INTO left_out VALUES (?1)"));
      for (const std::int64_t id : *ids)
        SONDE_TRY(add.bindAll(id).run());
    }
    SONDE_TRY(trace.exec(fmt::format(
        "DELETE FROM arg WHERE owner = '{}' AND owner_id IN (SELECT id FROM temp.left_out); DROP "
        "TABLE temp.left_out",
        owner)));
  }
  result_.impossible += kept;
  kept_ -= std::min(kept_, kept);
  return {};
}

}  // namespace sonde::ingest
