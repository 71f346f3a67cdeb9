// The work of TraceEventImporter after all events: nests and joins them, and leaves out those with
// impossible times.
#include "analysis/ingest/trace_event/trace_event_importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::ingest {

void TraceEventImporter::noteRanks() {
  for (std::size_t process = 0; process < context_.places.processes(); ++process) {
    if (const auto rank = context_.places.rankOf(process))
      context_.account.ranks.insert(*rank);
    if (const auto size = context_.places.worldSizeOf(process))
      context_.account.worldSize = size;
  }
}

// Stores the base of the file's own times: a comparison with a reader that uses doubles needs it.
Result<void> TraceEventImporter::noteBase() {
  if (!hasFractions_)
    return {};
  SONDE_TRY_ASSIGN(const model::StringId key, context_.writer.intern("sonde.base_ns"));
  for (std::size_t process = 0; process < context_.places.processes(); ++process)
    SONDE_TRY(context_.writer.add(model::Arg{
        model::Owner::Process, context_.places.idOf(process).value, key, context_.baseNs}));
  return {};
}

Result<void> TraceEventImporter::finish() {
  if (!context_.isExport) {
    context_.places.settleMain();
    context_.places.setRankIfNone(rankInName_);
  }
  work_.describeDevices();
  const TimeWindow window =
      context_.isExport ? TimeWindow() : census_.window();  // the jobs of an export may take months
  SONDE_TRY(context_.places.finish(context_.baseNs, window));
  SONDE_TRY(noteBase());
  storing_("nesting slices", 0.1);
  SONDE_TRY(context_.slices.finish(context_.writer, context_.baseNs, window));
  storing_("joining kernels to their launches", 0.6);
  context_.account.arrows = context_.slices.looseArrows();
  SONDE_TRY(work_.finish(window));
  storing_("storing counters", 0.9);
  SONDE_TRY(counters_.finish(context_.writer, context_.places, context_.baseNs, window));
  SONDE_TRY(slices_.finishIterations(window));
  SONDE_TRY(dropArgs());
  storing_("storing collectives", 0.95);
  return work_.finishCollectives(window);
}

// Drops the arguments of events that were left out because of impossible times.
Result<void> TraceEventImporter::dropArgs() {
  const DeviceEvents::LeftOut& work = work_.leftOut();
  const std::pair<std::string_view, const std::vector<std::int64_t>*> owners[] = {
      {"slice", &context_.slices.leftOut()},
      {"kernel", &work.kernels},
      {"copy", &work.copies},
      {"sync", &work.syncs}};
  std::uint64_t kept = counters_.leftOut();
  for (const auto& [owner, ids] : owners) {
    kept += ids->size();
    if (ids->empty())
      continue;
    store::Database& trace = context_.writer.database();
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
  context_.account.impossible += kept;
  context_.kept -= std::min(context_.kept, kept);
  return {};
}

}  // namespace sonde::ingest
