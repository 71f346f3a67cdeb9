// Kernels as points under the roofs of their device, with a table of them. A choice in one is a
// choice in the other. Main thread; the models must outlive it.
#pragma once

#include "gui/models/roofline/roofline_values.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <vector>

class QComboBox;
class QLabel;

namespace sonde::gui {

class ScatterChart;
class TablePanel;

class RooflineView : public Panel {
  Q_OBJECT

 public:
  explicit RooflineView(TraceModels& models);

  [[nodiscard]] const ScatterChart& chart() const { return *chart_; }
  [[nodiscard]] const ValueTable& kernels() const { return kernels_; }
  [[nodiscard]] TablePanel& table() const { return *table_; }
  [[nodiscard]] QString note() const;

 protected:
  void read() override;

 private:
  void showDevices();
  void show();

  std::vector<engine::roofline::DeviceRoofline> devices_;
  ValueTable kernels_{rooflineColumns()};
  QComboBox* device_ = nullptr;
  QLabel* note_ = nullptr;
  ScatterChart* chart_ = nullptr;
  TablePanel* table_ = nullptr;
};

}  // namespace sonde::gui
