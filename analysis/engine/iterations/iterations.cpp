#include "analysis/engine/iterations/iterations.h"

#include "analysis/model/times.h"
#include "analysis/model/words.h"
#include "analysis/store/each_row.h"
#include "analysis/store/iteration_nesting.h"
#include "analysis/store/open_slice.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
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

using OfProcess = std::vector<Iteration*>;  // by start, longer ones first

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

std::int64_t allOf(const OfProcess& iterations, std::int64_t askedFor) {
  std::int64_t seen = 0;
  for (const Iteration* each : iterations)
    seen |= each->probeMask;
  // A run cannot request these probes by name; they are on unless switched off.
  const std::int64_t unnamed = model::probeBit("process") | model::probeBit("plugin");
  const bool isOfThisRun = (seen & ~unnamed & ~askedFor) == 0;
  return isOfThisRun ? askedFor | seen : seen;
}

void mask(const OfProcess& iterations, std::int64_t all) {
  std::int64_t before = all;
  for (Iteration* each : iterations) {
    const bool isFull = (each->probeMask & all) == all;
    // Nothing was switched before an iteration that follows one in outline.
    const bool wasSwitched = before != 0 && (before & all) != all;
    each->isMasked = !isFull || wasSwitched;
    before = each->probeMask;
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
bool overlaps(const Iteration& iteration, const Stretches& ofHost) {
  const std::int64_t begin = iteration.startNs;
  const std::int64_t length = iteration.durNs.value_or(0);
  if (length <= 0 || !model::isTime(begin) || !model::isTime(length))
    return false;
  const auto after = ofHost.lower_bound(begin + length);
  return after != ofHost.begin() && std::prev(after)->second > begin;
}

// Whether enough iterations are left without the disturbed ones. Takes them in the order of begins.
bool suffices(const OfProcess& iterations, std::int64_t all) {
  std::size_t full = 0;
  std::size_t off = 0;
  std::size_t blocks = 0;
  std::size_t ofBlock = 0;
  std::int64_t before = 0;
  for (const Iteration* each : iterations) {
    if (each->probeMask != before)
      ofBlock = 0;
    before = each->probeMask;
    if (each->isDisturbed || each->probeMask == 0)
      continue;
    if ((each->probeMask & all) != all)
      ++off;
    else if (!each->isMasked)
      ++full;
    if (++ofBlock == kFewestOfBlock)
      ++blocks;
  }
  return std::min(full, off) >= kFewestIterations && blocks >= kFewestBlocks;
}

// Marks the iterations during which the recorder of their host stored.
Result<void> markDisturbed(const store::Database& trace, std::vector<Iteration>& all) {
  SONDE_TRY_ASSIGN(const Storing storing, readStoring(trace));
  std::unordered_map<std::int64_t, const Stretches*> ofProcess;
  SONDE_TRY(store::forEachRow(
      trace, "SELECT id, host_id FROM process", [&](const store::Statement& row) -> Result<void> {
        if (const auto host = storing.find(row.integer(1)); host != storing.end())
          ofProcess.emplace(row.integer(0), &host->second);
        return {};
      }));
  for (Iteration& each : all)
    if (const auto host = ofProcess.find(each.processId); host != ofProcess.end())
      each.isDisturbed = overlaps(each, *host->second);
  return {};
}

}  // namespace

std::int64_t Iteration::endNs() const noexcept {
  std::int64_t end = 0;
  return __builtin_add_overflow(startNs, *durNs, &end) ? INT64_MAX : end;
}

Result<Iterations> Iterations::read(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t askedFor, probesAskedFor(trace));
  SONDE_TRY_ASSIGN(const auto holders, store::readIterationHolders(trace));
  Iterations found;
  SONDE_TRY_ASSIGN(found.all_,
                   store::readAll<Iteration>(
                       trace,
                       fmt::format("SELECT i.*, s.thread_id, iif(i.dur_ns IS NULL, {}, NULL) AS "
                                   "at_most_ns FROM iteration i LEFT JOIN slice s ON s.id = "
                                   "i.slice_id ORDER BY i.start_ns, i.dur_ns DESC, i.id",
                                   store::atMostSql("i.slice_id"))));
  SONDE_TRY(markDisturbed(trace, found.all_));
  std::unordered_map<std::int64_t, OfProcess> byProcess;
  for (Iteration& each : found.all_) {
    if (const auto holder = holders.find(each.id); holder != holders.end())
      each.holder = holder->second;
    byProcess[each.processId].push_back(&each);
  }
  for (auto& [process, iterations] : byProcess) {
    const std::int64_t all = allOf(iterations, askedFor);
    found.fullMasks_.emplace(process, all);
    std::erase_if(iterations, [](Iteration* each) {
      each->isDisturbed = each->isDisturbed && !each->isInner();
      return each->isInner();
    });
    mask(iterations, all);
    const bool leavesEnough = suffices(iterations, all);
    for (Iteration* each : iterations) {
      each->isDisturbed = each->isDisturbed && leavesEnough;
      each->isMasked = each->isMasked || each->isDisturbed;
    }
  }
  std::sort(found.all_.begin(), found.all_.end(), [](const Iteration& a, const Iteration& b) {
    return std::pair(a.startNs, a.id) < std::pair(b.startNs, b.id);
  });
  return found;
}

std::int64_t Iterations::fullMaskOf(std::int64_t processId) const {
  const auto found = fullMasks_.find(processId);
  return found == fullMasks_.end() ? 0 : found->second;
}

}  // namespace sonde::engine::iterations
