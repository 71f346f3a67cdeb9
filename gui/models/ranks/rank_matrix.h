// The iterations of all ranks as a matrix, for the view of ranks. Plain values; reading uses the
// database's thread.
#pragma once

#include "analysis/engine/report/report.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/place.h"
#include "gui/trace/trace_data.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace sonde::gui {

enum class RankValue : std::uint8_t { Time, Communication, Idle };
[[nodiscard]] QString titleOf(RankValue value);

// A number, and how often it came before: numbers may restart.
struct IterationKey {
  std::int64_t occurrence = 0;
  std::int64_t number = 0;
  auto operator<=>(const IterationKey&) const = default;
};

struct RankMatrix {
  std::vector<QString> ranks;
  std::vector<std::optional<std::int64_t>> numbers;  // of the ranks
  std::vector<QString> iterations;
  std::vector<IterationKey> keys;  // of the iterations
  // By rank, then by iteration, in ns; NaN: the rank has no such iteration, or it is not known.
  std::vector<double> values;
};

// The iterations that share time with `within` on some rank.
[[nodiscard]] std::set<IterationKey> iterationsIn(const Skeleton& skeleton,
                                                  const engine::metrics::Interval& within);
// The iteration of the process in the skeleton; nullptr: it has no such iteration.
[[nodiscard]] const IterationInfo* iterationOf(const Skeleton& skeleton,
                                               std::int64_t processId,
                                               const IterationKey& key);

// The value in which the ranks differ: idle time if iterations take all of them equally long.
[[nodiscard]] RankValue tellingValue(const engine::report::JobReport& report);

// A column is an iteration. `only`: these iterations; unset: all.
[[nodiscard]] RankMatrix rankMatrix(const engine::report::JobReport& report,
                                    RankValue value,
                                    const std::optional<std::set<IterationKey>>& only = {});

}  // namespace sonde::gui
