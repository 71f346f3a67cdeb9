// Where the time went: stacked bars by operation, rank, iteration and the like, and the same as a
// table. Main thread; the models must outlive it.
#pragma once

#include "gui/models/breakdown/breakdown_bars.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

class QComboBox;
class QLabel;

namespace sonde::gui {

class BarChart;

class BreakdownView : public Panel {
  Q_OBJECT

 public:
  explicit BreakdownView(TraceModels& models);

  void choose(BreakdownBy bars, BreakdownBy parts);
  [[nodiscard]] const BarChart& chart() const { return *chart_; }
  [[nodiscard]] const ValueTable& table() const { return table_; }

 protected:
  void read() override;

 private:
  QComboBox* comboOf(std::initializer_list<BreakdownBy> choices, const QString& name);
  void show(BreakdownBars bars);
  void draw();

  BreakdownBars read_;
  Focus::Part limits_;  // of what was read; its name limits nothing
  ValueTable table_{breakdownColumns()};
  QComboBox* bars_ = nullptr;
  QComboBox* parts_ = nullptr;
  QLabel* note_ = nullptr;
  BarChart* chart_ = nullptr;
};

}  // namespace sonde::gui
