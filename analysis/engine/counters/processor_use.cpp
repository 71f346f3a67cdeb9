#include "analysis/engine/counters/processor_use.h"

#include "analysis/store/each_row.h"

#include <fmt/format.h>

namespace sonde::engine::counters {
namespace {

struct BusySample {
  std::int64_t ns = 0;
  double busyNs = 0;  // of all processors, so far
};

}  // namespace

Result<std::optional<ProcessorUse>> processorUse(const store::Database& trace,
                                                 std::int64_t processId,
                                                 const metrics::Interval& window) {
  ProcessorUse use;
  std::optional<BusySample> first;
  BusySample last;
  SONDE_TRY(store::forEachRow(
      trace,
      fmt::format(
          "SELECT h.name, h.cpu_count, s.ts_ns, s.value FROM process p "
          "JOIN host h ON h.id = p.host_id "
          "JOIN counter c ON c.host_id = h.id AND c.process_id IS NULL AND c.kind = 'total' "
          "JOIN string n ON n.id = c.name_id AND n.text = 'cpu busy' "
          "JOIN sample s ON s.counter_id = c.id AND s.ts_ns BETWEEN {} AND {} "
          "WHERE p.id = {} AND h.cpu_count > 0 ORDER BY s.ts_ns",
          window.begin,
          window.end,
          processId),
      [&](const store::Statement& row) -> Result<void> {
        use.host = row.text(0);
        use.processors = row.integer(1);
        last = {row.integer(2), row.real(3)};
        if (!first)
          first = last;
        return {};
      }));
  if (!first || last.ns <= first->ns || last.busyNs < first->busyNs)
    return std::optional<ProcessorUse>();
  use.busy = (last.busyNs - first->busyNs) / static_cast<double>(last.ns - first->ns);
  return std::optional(use);
}

}  // namespace sonde::engine::counters
