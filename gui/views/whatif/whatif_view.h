// Asks what would happen if: changes of the job, the predicted iteration with its interval at once,
// its critical path and its timeline now and then, and the optimiser's plan. Main thread; the
// models must outlive it.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/models/whatif/answer_values.h"
#include "gui/models/whatif/asked_trace.h"
#include "gui/models/whatif/iteration_lanes.h"
#include "gui/views/panel.h"

#include <QTimer>

#include <memory>
#include <vector>

class QComboBox;
class QLabel;
class QListWidget;
class QPushButton;
class QTabWidget;

namespace sonde::gui {

class BarChart;
class LaneChart;
class PlanPanel;
class QuestionEditor;

class WhatifView : public Panel {
  Q_OBJECT

 public:
  explicit WhatifView(TraceModels& models);

  [[nodiscard]] QuestionEditor& editor() { return *editor_; }
  [[nodiscard]] PlanPanel& plan() { return *plan_; }
  // Adds the change that the editor shows.
  void addEdited();
  void add(const AskedChange& change);
  // Asks an option of `sonde whatif`, in place of those that are asked.
  void take(const QString& question) override;
  // In place of those that are asked.
  void setChanges(const std::vector<AskedChange>& changes);
  void removeCurrent();
  [[nodiscard]] QStringList options() const;  // of the changes that are asked
  // The same as a command line.
  [[nodiscard]] QString command() const;
  // nullptr: nothing is asked, or it could not be answered.
  [[nodiscard]] const engine::whatif::Answer* answer() const { return answer_.get(); }
  [[nodiscard]] QString headline() const;
  [[nodiscard]] const ValueTable& path() const { return path_; }
  [[nodiscard]] const BarChart& bars() const { return *bars_; }
  [[nodiscard]] const LaneChart& lanes() const { return *lanes_; }

 protected:
  void read() override;

 private:
  QWidget* buildQuestions();
  QWidget* buildAnswer();
  void forget();
  void showTrace(std::shared_ptr<const AskedTrace> trace);
  void edit();
  void showCurrent();
  void showChanges(int current);
  void predict();
  void show(Result<engine::whatif::Answer> answer);
  void showBars();
  void readParts();
  void showLanes(bool keepRange);
  void setOutdated(bool outdated);
  void showNothing(const QString& headline);

  std::shared_ptr<const AskedTrace> trace_;  // nullptr: not read yet
  QStringList traces_;                       // as words of a command line
  std::vector<AskedChange> changes_;
  QString wanted_;  // an option to ask once the trace has been read
  std::shared_ptr<const engine::whatif::Answer> answer_;
  std::shared_ptr<const IterationParts> parts_;  // of the chosen iteration; nullptr: not read yet
  ValueTable path_{changedPathColumns()};
  QTimer delay_;     // from a change to its question
  QObject reading_;  // asks for the parts of an iteration
  QObject drawing_;  // asks for its timelines
  QuestionEditor* editor_ = nullptr;
  QListWidget* list_ = nullptr;
  QPushButton* remove_ = nullptr;
  QPushButton* copy_ = nullptr;
  QLabel* headline_ = nullptr;
  QLabel* remarks_ = nullptr;
  BarChart* bars_ = nullptr;
  QComboBox* iteration_ = nullptr;
  QLabel* left_ = nullptr;  // the parts that are not drawn
  LaneChart* lanes_ = nullptr;
  PlanPanel* plan_ = nullptr;
};

}  // namespace sonde::gui
