#include "analysis/ingest/import_summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::ingest {

std::vector<std::pair<const char*, std::uint64_t>> lossesOf(const ImportedFile& imported) {
  return {{"unreadable", imported.faults.events},
          {"unreadable value", imported.values.events},
          {"no time", imported.badTimes + imported.impossible},
          {"not begun", imported.unpaired},
          {"not supported", imported.unsupported},
          {"no link", imported.arrows.count},
          {"cut short", imported.faults.cutShort.empty() ? 0U : 1U}};  // at least one
}

namespace {

// One line for each kind of fault, with the file's name.
void addWarnings(ImportSummary& summary,
                 const std::filesystem::path& file,
                 const ImportedFile& imported) {
  const auto warn = [&](const std::string& text) {
    summary.warnings.push_back(fmt::format("'{}': {}", file.string(), text));
  };
  if (!imported.faults.cutShort.empty())
    summary.warnings.push_back(imported.faults.cutShort + "; everything before it was imported");
  if (imported.faults.events > 0)
    warn(fmt::format("{} events cannot be read; the first is {}",
                     imported.faults.events,
                     imported.faults.first));
  if (imported.values.events > 0)
    warn(
        fmt::format("{} values cannot be read, and their events are kept without them; the first "
                    "is in {}",
                    imported.values.events,
                    imported.values.first));
  if (imported.badTimes > 0)
    warn(fmt::format("{} events have no readable time", imported.badTimes));
  if (imported.impossible > 0)
    warn(
        fmt::format("{} events have impossible times: device events at 0 or without a time, or "
                    "weeks from all others",
                    imported.impossible));
  if (imported.unpaired > 0)
    warn(fmt::format("{} events end without a begin", imported.unpaired));
  if (imported.arrows.count > 0)
    warn(
        fmt::format("{} ends of arrows have no link, because a slice, the other end or an id is "
                    "missing; the first is at byte {}",
                    imported.arrows.count,
                    imported.arrows.first));
  if (imported.negative > 0)
    warn(fmt::format("{} durations are negative: they count as 0", imported.negative));
  if (imported.faults.repaired > 0)
    warn(fmt::format("{} bytes that are invalid in JSON were replaced; the first is byte {}",
                     imported.faults.repaired,
                     imported.faults.firstRepaired));
  for (const std::string& text : imported.warnings)
    warn(text);
}

}  // namespace

void summarise(ImportSummary& summary,
               const std::filesystem::path& file,
               const ImportedFile& imported) {
  std::uint64_t read = 0;
  for (const auto& [category, count] : imported.events) {
    summary.read[category] += count;
    read += count;
  }
  summary.kept += imported.kept.value_or(read - std::min(read, imported.notKept));
  if (imported.notKept > 0)
    summary.dropped["not kept"] += imported.notKept;
  for (const auto& [reason, count] : lossesOf(imported))
    if (count > 0)
      summary.dropped[reason] += count;
  addWarnings(summary, file, imported);
}

}  // namespace sonde::ingest
