// Scalars, statistics of a tensor and the time of iterations as lines over the iterations, one
// above the other on the same axis, and the tensor's histograms beside them. Only of iterations
// that overlap the selected span. Main thread; the models must outlive it.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/models/training/training_values.h"
#include "gui/views/panel.h"

#include <QString>

#include <vector>

class QLabel;
class QListWidget;
class QSplitter;

namespace sonde::gui {

class LineChart;
class RidgeChart;
class Section;
class TablePanel;

class TrainingView : public Panel {
  Q_OBJECT

 public:
  explicit TrainingView(TraceModels& models);

  // Shows the scalars of these names, and no others.
  void choose(const QStringList& scalars);
  // Shows a tensor: a row of tensors(). Requires: there are so many.
  void chooseTensor(int row);
  [[nodiscard]] const ValueTable& tensors() const { return tensors_; }
  // One for each chosen scalar.
  [[nodiscard]] std::vector<const LineChart*> charts() const;
  [[nodiscard]] const LineChart& times() const { return *times_; }
  [[nodiscard]] const LineChart& statistics() const { return *statistics_; }
  [[nodiscard]] const RidgeChart& ridges() const { return *ridges_; }
  [[nodiscard]] QString hint() const;

 protected:
  void read() override;

 private:
  QWidget* buildLists();
  QWidget* buildCharts();
  void showNames();
  void readSeries();
  void showSeries();
  void showScalars();
  void showTensor();
  void showTimes();
  [[nodiscard]] LineChart* addChart(const QString& title, Section*& section);

  TrainingNames names_;
  TrainingSeries series_;
  int tensor_ = -1;  // in names_.tensors; -1: none
  ValueTable tensors_{tensorColumns()};
  QListWidget* scalars_ = nullptr;
  TablePanel* tensorList_ = nullptr;
  Section* tensorSection_ = nullptr;
  QSplitter* lines_ = nullptr;
  std::vector<Section*> scalarSections_;
  LineChart* times_ = nullptr;
  LineChart* statistics_ = nullptr;
  Section* statisticsSection_ = nullptr;
  RidgeChart* ridges_ = nullptr;
  Section* ridgeSection_ = nullptr;
  QLabel* hint_ = nullptr;
  QObject seriesRead_;  // a part for askFor()
};

}  // namespace sonde::gui
