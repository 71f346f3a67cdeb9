// The first page of a trace: iterations, where the time went, the critical path, operations,
// findings and remarks, each with a link to the view that shows more. Main thread; the models must
// outlive it.
#pragma once

#include "gui/models/overview/overview_values.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <memory>

class QGridLayout;
class QLabel;

namespace sonde::gui {

class BarChart;
class LineChart;
class Section;
class TablePanel;

class OverviewView : public Panel {
  Q_OBJECT

 public:
  explicit OverviewView(TraceModels& models);

  [[nodiscard]] const ValueTable& operations() const { return operations_; }
  [[nodiscard]] const ValueTable& findings() const { return findings_; }
  [[nodiscard]] const ValueTable& path() const { return path_; }
  [[nodiscard]] const ValueTable& notes() const { return notes_; }
  [[nodiscard]] const BarChart& times() const { return *times_; }
  [[nodiscard]] const LineChart& iterations() const { return *iterations_; }

 protected:
  void read() override;

 private:
  void addSection(QGridLayout& grid, const QPoint& cell, Section* section);
  TablePanel* tableOf(ValueTable& table, int stretch);
  void show(const engine::report::JobReport& report);
  void showIterations(const engine::report::JobReport& report);
  void showFindingsState(const QString& text);
  void showFindings(const Result<std::shared_ptr<const rules::CheckReport>>& check);

  ValueTable operations_;
  ValueTable path_;
  ValueTable findings_;
  ValueTable notes_;
  QObject checking_;  // asks for the findings, which take longer
  QLabel* headline_ = nullptr;
  QLabel* facts_ = nullptr;
  QLabel* findingsState_ = nullptr;
  BarChart* times_ = nullptr;
  LineChart* iterations_ = nullptr;
};

}  // namespace sonde::gui
