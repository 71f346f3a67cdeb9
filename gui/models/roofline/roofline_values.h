// Kernels against the limits of their device, for the view of the roofline. Pure functions over
// plain values.
#pragma once

#include "analysis/engine/roofline/roofline.h"
#include "gui/models/table/value_table.h"

#include <QString>

#include <vector>

namespace sonde::gui {

// "memory".
[[nodiscard]] QString titleOf(engine::roofline::Bound bound);
// All that is known of a point, in lines.
[[nodiscard]] QString textOf(const engine::roofline::RooflinePoint& point);
// Which part of the device's kernels has known work, and where peaks come from.
[[nodiscard]] QString noteOf(const engine::roofline::DeviceRoofline& device);

[[nodiscard]] std::vector<ValueColumn> rooflineColumns();
// A row for each of the device's points. A row leads to the longest of its kernels.
[[nodiscard]] std::vector<ValueRow> rooflineRows(const engine::roofline::DeviceRoofline& device);

}  // namespace sonde::gui
