// The memory that processes held over time, its peak and its holders, for the view of memory. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/memory/memory_use.h"
#include "analysis/engine/memory/reserved_memory.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::gui {

// An instant by the clock of the host, and by that of the job.
struct MemoryPoint {
  std::int64_t hostNs = 0;
  std::int64_t jobNs = 0;
  std::int64_t bytes = 0;  // from then on
};

// The memory of one process, place and allocator.
struct MemoryLine {
  engine::metrics::MemoryUse use;
  std::vector<MemoryPoint> levels;
  std::vector<MemoryPoint> reserved;  // by PyTorch's allocator; empty: unknown
  MemoryPoint peak;
};

// The highest peak first. Empty: no allocation was recorded. `within`: job time; values are then
// those in it, as of memoryUses().
[[nodiscard]] Result<std::vector<MemoryLine>> readMemory(
    const store::Database& trace, const std::optional<engine::metrics::Interval>& within);
// The blocks that are alive at an instant of the host.
[[nodiscard]] Result<std::vector<engine::metrics::MemoryHolder>> readHolders(
    const store::Database& trace, const engine::metrics::MemoryUse& use, std::int64_t hostNs);

// "rank 0, gpu 0, torch".
[[nodiscard]] QString titleOf(const engine::metrics::MemoryUse& use);

[[nodiscard]] std::vector<ValueColumn> memoryColumns();
[[nodiscard]] std::vector<ValueRow> memoryRows(const std::vector<MemoryLine>& lines);

// `bytes`: of all that is held then, with the base.
[[nodiscard]] std::vector<ValueColumn> holderColumns();
[[nodiscard]] std::vector<ValueRow> holderRows(
    const std::vector<engine::metrics::MemoryHolder>& holders, std::int64_t bytes);

[[nodiscard]] std::vector<ValueColumn> memoryOperationColumns();
[[nodiscard]] std::vector<ValueRow> memoryOperationRows(const engine::metrics::MemoryUse& use);

}  // namespace sonde::gui
