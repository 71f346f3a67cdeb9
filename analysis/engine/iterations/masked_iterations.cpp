#include "analysis/engine/iterations/masked_iterations.h"

#include "analysis/model/times.h"
#include "analysis/model/words.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::engine::iterations {
namespace {

// A process calibrates by the iterations during which the recorder did not store. At least
// kFewestIterations of them must have all probes, and as many must have some off. At least
// kFewestBlocks blocks must have kFewestOfBlock of them.
constexpr std::size_t kFewestIterations = 30;
constexpr std::size_t kFewestBlocks = 8;
constexpr std::size_t kFewestOfBlock = 4;

// The storing stretches of one host: end by begin. They do not overlap.
using Stretches = std::map<std::int64_t, std::int64_t>;
using Storing = std::unordered_map<std::int64_t, Stretches>;  // by host

struct Recorded {
  std::int64_t id;
  std::int64_t probes;  // a bit each
  bool isDisturbed;
};

// 0: the trace does not have the probes, or has different ones because several runs are merged.
Result<std::int64_t> probesAskedFor(const store::Database& trace) {
  auto words = trace.queryText("SELECT value FROM meta WHERE key = 'sources'");
  if (!words)
    return words.error().code == ErrorCode::NotFound ? Result<std::int64_t>(0) : words.error();
  std::int64_t probes = 0;
  for (std::string_view rest = *words; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::int64_t bit = model::probeBit(rest.substr(0, comma));
    if (bit == 0)
      return 0;
    probes |= bit;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return probes;
}

std::int64_t allOf(const std::vector<Recorded>& iterations, std::int64_t askedFor) {
  std::int64_t seen = 0;
  for (const Recorded& each : iterations)
    seen |= each.probes;
  // A run cannot request these probes by name; they are on unless switched off.
  const std::int64_t unnamed = model::probeBit("process") | model::probeBit("plugin");
  const bool isOfThisRun = (seen & ~unnamed & ~askedFor) == 0;
  return isOfThisRun ? askedFor | seen : seen;
}

// `iterations`: in the order of their begins.
void addMasked(const std::vector<Recorded>& iterations,
               std::int64_t all,
               std::unordered_set<std::int64_t>& masked) {
  std::int64_t before = all;
  for (const Recorded& each : iterations) {
    const bool isFull = (each.probes & all) == all;
    // An iteration in outline before this one does not mean a switch.
    const bool wasSwitched = before != 0 && (before & all) != all;
    if (!isFull || wasSwitched)
      masked.insert(each.id);
    before = each.probes;
  }
}

// Requires: in the order of begins. Stretches of several recorders on a host may overlap.
void add(Stretches& stretches, std::int64_t begin, std::int64_t end) {
  if (!stretches.empty() && begin <= stretches.rbegin()->second)
    stretches.rbegin()->second = std::max(stretches.rbegin()->second, end);
  else
    stretches.emplace_hint(stretches.end(), begin, end);
}

// Only counts for a run with --calibrate. Traces of earlier versions lack the table.
Result<Storing> readStoring(const store::Database& trace) {
  Storing storing;
  SONDE_TRY_ASSIGN(
      const std::int64_t counts,
      trace.queryInteger("SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'calibrate') AND EXISTS "
                         "(SELECT 1 FROM sqlite_schema WHERE name = 'storing')"));
  if (counts == 0)
    return storing;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT host_id, start_ns, dur_ns FROM storing WHERE dur_ns > 0 ORDER BY start_ns",
      [&](const store::Statement& row) -> Result<void> {
        if (model::isTime(row.integer(1)) && model::isTime(row.integer(2)))
          add(storing[row.integer(0)], row.integer(1), row.integer(1) + row.integer(2));
        return {};
      }));
  return storing;
}

// An iteration without a known end is in outline anyway. Invalid times are reported elsewhere.
bool overlaps(const store::Statement& row, const Storing& storing) {
  const auto ofHost = storing.find(row.integer(5));
  const std::int64_t begin = row.integer(3);
  const std::int64_t length = row.integer(4);
  if (ofHost == storing.end() || length <= 0 || !model::isTime(begin) || !model::isTime(length))
    return false;
  const auto after = ofHost->second.lower_bound(begin + length);
  return after != ofHost->second.begin() && std::prev(after)->second > begin;
}

// Whether enough iterations are left without the disturbed ones. Takes them in the order of begins.
bool suffices(const std::vector<Recorded>& iterations,
              std::int64_t all,
              const std::unordered_set<std::int64_t>& masked) {
  std::size_t full = 0;
  std::size_t off = 0;
  std::size_t blocks = 0;
  std::size_t ofBlock = 0;
  std::int64_t before = 0;
  for (const Recorded& each : iterations) {
    if (each.probes != before)
      ofBlock = 0;
    before = each.probes;
    if (each.isDisturbed || each.probes == 0)
      continue;
    if ((each.probes & all) != all)
      ++off;
    else if (!masked.contains(each.id))
      ++full;
    if (++ofBlock == kFewestOfBlock)
      ++blocks;
  }
  return std::min(full, off) >= kFewestIterations && blocks >= kFewestBlocks;
}

}  // namespace

Result<MaskedIterations> MaskedIterations::read(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t askedFor, probesAskedFor(trace));
  SONDE_TRY_ASSIGN(const Storing storing, readStoring(trace));
  MaskedIterations found;
  SONDE_TRY_ASSIGN(found.holders_, store::readIterationHolders(trace));
  std::unordered_map<std::int64_t, std::vector<Recorded>> byProcess;
  SONDE_TRY(store::forEachRow(
      trace,
      "SELECT i.process_id, i.id, i.probe_mask, i.start_ns, i.dur_ns, p.host_id FROM "
      "iteration i LEFT JOIN process p ON p.id = i.process_id ORDER BY i.start_ns, i.dur_ns DESC, "
      "i.id",
      [&](const store::Statement& row) -> Result<void> {
        byProcess[row.integer(0)].push_back(
            {row.integer(1), row.integer(2), overlaps(row, storing)});
        return {};
      }));
  for (auto& [process, iterations] : byProcess) {
    const std::int64_t all = allOf(iterations, askedFor);
    found.fullMasks_.emplace(process, all);
    std::erase_if(iterations, [&](const Recorded& each) { return found.isInner(each.id); });
    addMasked(iterations, all, found.masked_);
    if (!suffices(iterations, all, found.masked_))
      continue;
    for (const Recorded& each : iterations)
      if (each.isDisturbed)
        found.disturbed_.insert(each.id);
  }
  found.masked_.insert(found.disturbed_.begin(), found.disturbed_.end());
  return found;
}

std::int64_t MaskedIterations::fullMaskOf(std::int64_t processId) const {
  const auto found = fullMasks_.find(processId);
  return found == fullMasks_.end() ? 0 : found->second;
}

}  // namespace sonde::engine::iterations
