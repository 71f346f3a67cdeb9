// The use of machines and devices over time, and the energy of operations, for the view of the
// system. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/counters/counter_groups.h"
#include "analysis/engine/energy/energy_use.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"
#include "gui/models/view_state.h"

#include <QString>

#include <optional>
#include <vector>

namespace sonde::gui {

struct SystemValues {
  std::vector<engine::counters::CounterChart> charts;
  std::vector<engine::energy::EnergyUse> energy;  // while the ranks trained
  bool hasCounters = false;                       // in any range
};
// `within`: job time; unset: all.
[[nodiscard]] Result<SystemValues> readSystem(
    const store::Database& trace, const std::optional<engine::metrics::Interval>& within);

// The charts of a group, so that each curve's change is seen: curves of very different size have
// charts of their own if they are levels, such as bytes in use.
[[nodiscard]] std::vector<engine::counters::CounterChart> withRoom(
    const engine::counters::CounterChart& chart);
// Whether its axis begins at 0. That of levels which hardly change does not.
[[nodiscard]] bool isFromZero(const engine::counters::CounterChart& chart);

// "Processors in use", with the device if it is one's: "Power (W), gpu 0".
[[nodiscard]] QString titleOf(const engine::counters::CounterChart& chart);
[[nodiscard]] ValueKind unitOf(const engine::counters::CounterChart& chart);

// The meters, each with its operations and its idle time.
[[nodiscard]] std::vector<ValueColumn> energyColumns();
[[nodiscard]] std::vector<ValueRow> energyRows(const SystemValues& values);

}  // namespace sonde::gui
