#include "analysis/engine/waits/quiet_times.h"

#include "analysis/store/read_rows.h"

#include <algorithm>

namespace sonde::engine::waits {
namespace {

struct Begun {
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  bool isWork = false;

  SONDE_COLUMNS(startNs, endNs, isWork)
};

// Whether one of the times is in (beginNs, endNs].
bool hasIn(const std::vector<std::int64_t>& times, std::int64_t beginNs, std::int64_t endNs) {
  const auto next = std::upper_bound(times.begin(), times.end(), beginNs);
  return next != times.end() && *next <= endNs;
}

}  // namespace

Result<const QuietTimes::Begins*> QuietTimes::beginsOf(std::int64_t thread) {
  const auto [place, isNew] = begins_.try_emplace(thread);
  Begins& begins = place->second;
  if (!isNew)
    return &begins;
  SONDE_TRY_ASSIGN(store::Statement rows,
                   trace_.prepare("SELECT start_ns, start_ns + dur_ns AS end_ns, kind IN "
                                  "('operator', 'api', 'io') AS is_work FROM slice WHERE thread_id "
                                  "= ? AND dur_ns IS NOT NULL ORDER BY start_ns"));
  rows.bind(1, thread);
  SONDE_TRY(store::forEach<Begun>(rows, [&](const Begun& row) {
    begins.all.push_back(row.startNs);
    if (!row.isWork)
      return;
    begins.ofWork.push_back(row.startNs);
    begins.lastEnd.push_back(begins.lastEnd.empty() ? row.endNs
                                                    : std::max(begins.lastEnd.back(), row.endNs));
  }));
  return &begins;
}

Result<bool> QuietTimes::isQuiet(std::int64_t thread, std::int64_t beginNs, std::int64_t endNs) {
  const auto facts = lanes_.threads.find(thread);
  if (facts == lanes_.threads.end())
    return false;
  SONDE_TRY_ASSIGN(const Begins* const begins, beginsOf(thread));
  if (hasIn(facts->second.ends, beginNs, endNs) || hasIn(begins->all, beginNs, endNs - 1))
    return false;
  const auto work = std::upper_bound(begins->ofWork.begin(), begins->ofWork.end(), beginNs);
  return work == begins->ofWork.begin() ||
         begins->lastEnd[static_cast<std::size_t>(work - begins->ofWork.begin()) - 1] <= beginNs;
}

}  // namespace sonde::engine::waits
