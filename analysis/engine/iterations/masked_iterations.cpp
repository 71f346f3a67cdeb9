#include "analysis/engine/iterations/masked_iterations.h"

#include "analysis/model/words.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::iterations {
namespace {

struct Recorded {
  std::int64_t id;
  std::int64_t probes;  // a bit each
};

// 0: the trace does not say, or says several things, of several runs.
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
  // Those that no run can be asked for by name are on unless they are switched off.
  const std::int64_t unnamed = model::probeBit("process") | model::probeBit("plugin");
  const bool isOfThisRun = (seen & ~unnamed & ~askedFor) == 0;
  return isOfThisRun ? askedFor | seen : seen;
}

// `iterations` in the order of their begins.
void addMasked(const std::vector<Recorded>& iterations,
               std::int64_t all,
               std::unordered_set<std::int64_t>& masked) {
  std::int64_t before = all;
  for (const Recorded& each : iterations) {
    const bool isFull = (each.probes & all) == all;
    // Before one that follows others in outline nothing was switched.
    const bool wasSwitched = before != 0 && (before & all) != all;
    if (!isFull || wasSwitched)
      masked.insert(each.id);
    before = each.probes;
  }
}

}  // namespace

Result<MaskedIterations> MaskedIterations::read(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t askedFor, probesAskedFor(trace));
  std::unordered_map<std::int64_t, std::vector<Recorded>> byProcess;
  SONDE_TRY(
      store::forEachRow(trace,
                        "SELECT process_id, id, probe_mask FROM iteration ORDER BY start_ns, id",
                        [&](const store::Statement& row) -> Result<void> {
                          byProcess[row.integer(0)].push_back({row.integer(1), row.integer(2)});
                          return {};
                        }));
  MaskedIterations found;
  for (const auto& [process, iterations] : byProcess) {
    const std::int64_t all = allOf(iterations, askedFor);
    found.fullMasks_.emplace(process, all);
    addMasked(iterations, all, found.masked_);
  }
  return found;
}

std::int64_t MaskedIterations::fullMaskOf(std::int64_t processId) const {
  const auto found = fullMasks_.find(processId);
  return found == fullMasks_.end() ? 0 : found->second;
}

}  // namespace sonde::engine::iterations
