// This trace against another one: which operations and kernels got slower or faster, how certain
// that is, and the same iteration of both runs as timelines. A selected span limits both to the
// iterations in it. Main thread; the models must outlive it.
#pragma once

#include "gui/models/compare/compared_lanes.h"
#include "gui/models/compare/trace_difference.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <QStringList>

#include <optional>

class QComboBox;
class QLabel;
class QPushButton;

namespace sonde::gui {

class LaneChart;
class TablePanel;

class CompareView : public Panel {
  Q_OBJECT

 public:
  explicit CompareView(TraceModels& models);

  // Compares with these traces, which were recorded before.
  void compareWith(const QStringList& before);
  [[nodiscard]] const ValueTable& table() const { return table_; }
  [[nodiscard]] TablePanel& rows() { return *rows_; }
  [[nodiscard]] QString sentence() const;
  [[nodiscard]] QComboBox& iteration() { return *iteration_; }
  [[nodiscard]] LaneChart& lanes() { return *chart_; }
  // The message beside the choice of the iteration.
  [[nodiscard]] QString lanesNote() const;

 protected:
  void read() override;

 private:
  QWidget* buildLanes();
  void chooseFiles();
  void show(const Result<Comparison>& comparison);
  void readLanes(const std::optional<engine::diff::IterationName>& wanted);
  void showLanes(bool keepRange);
  // The operation or kernel of the row, if it has one.
  void highlight(int row);

  ValueTable table_{differenceColumns()};
  QStringList before_;  // empty: none chosen
  ComparedLanes drawn_;
  QString highlighted_;  // empty: all spans have their colour
  bool isKernel_ = false;
  QObject lanesReader_;
  QLabel* names_ = nullptr;
  QLabel* sentence_ = nullptr;
  TablePanel* rows_ = nullptr;
  QComboBox* iteration_ = nullptr;
  QLabel* lanesNote_ = nullptr;
  LaneChart* chart_ = nullptr;
};

}  // namespace sonde::gui
