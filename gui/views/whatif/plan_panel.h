// Searches the best settings of the job, and shows the plan; its changes can be asked as a preview.
// Main thread; the models must outlive it.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/models/trace_models.h"
#include "gui/models/whatif/answer_values.h"

#include <QStringList>
#include <QWidget>

#include <atomic>
#include <memory>
#include <vector>

class QLabel;
class QPushButton;

namespace sonde::gui {

class TablePanel;

class PlanPanel : public QWidget {
  Q_OBJECT

 public:
  explicit PlanPanel(TraceModels& models, QWidget* parent = nullptr);
  // Stops the search.
  ~PlanPanel() override;
  PlanPanel(const PlanPanel&) = delete;
  PlanPanel& operator=(const PlanPanel&) = delete;

  // Drops the plan: the trace is another one. `isReady`: it has been read, and can be searched.
  void reset(bool isReady);
  void search();
  [[nodiscard]] const ValueTable& table() const { return table_; }
  [[nodiscard]] TablePanel& rows() { return *rows_; }
  [[nodiscard]] QString text() const;
  [[nodiscard]] const std::vector<TriedChange>& tried() const { return tried_; }

 signals:
  // The user wants to see what one change does, beside those that are asked.
  void added(const sonde::gui::AskedChange& change);
  // The user wants to see what the whole plan does.
  void planWanted(const std::vector<sonde::gui::AskedChange>& changes);

 private:
  void stop();
  void show(const Result<engine::optimise::Plan>& plan);
  void addRow(int row);
  void askPlan();

  TraceModels& models_;
  std::shared_ptr<std::atomic<bool>> stop_;  // nullptr: no search runs
  ValueTable table_{planColumns()};
  std::vector<TriedChange> tried_;  // by row
  QStringList order_;               // the options of the plan, as they apply
  QPushButton* search_ = nullptr;
  QPushButton* add_ = nullptr;
  QPushButton* askAll_ = nullptr;
  QLabel* text_ = nullptr;
  TablePanel* rows_ = nullptr;
};

}  // namespace sonde::gui
