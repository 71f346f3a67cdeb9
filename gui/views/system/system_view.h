// The use of a machine and its devices over time, one chart for each kind of value, and the energy
// of operations. Follows the selected range of time. Main thread; the models must outlive it.
#pragma once

#include "gui/models/system/system_values.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <QString>

#include <vector>

class QComboBox;
class QLabel;
class QVBoxLayout;

namespace sonde::gui {

class LineChart;
class Section;

class SystemView : public Panel {
  Q_OBJECT

 public:
  explicit SystemView(TraceModels& models);

  [[nodiscard]] const ValueTable& energy() const { return energy_; }
  [[nodiscard]] QStringList titles() const;  // of the charts
  [[nodiscard]] std::vector<const LineChart*> charts() const;
  [[nodiscard]] QString note() const;

 protected:
  void read() override;

 private:
  QWidget* buildCharts();
  void show();
  void showHosts();
  void showCharts();
  [[nodiscard]] LineChart* chartOf(const engine::counters::CounterChart& chart);
  void openAt(double seconds);

  SystemValues values_;
  ValueTable energy_{energyColumns()};
  QComboBox* host_ = nullptr;
  QLabel* note_ = nullptr;
  Section* energySection_ = nullptr;
  QVBoxLayout* charts_ = nullptr;
  std::vector<Section*> sections_;
  std::vector<const LineChart*> shown_;
  QStringList titles_;
};

}  // namespace sonde::gui
