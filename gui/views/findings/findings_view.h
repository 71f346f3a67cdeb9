// The verdicts of all rules, and one of them in full: what was found, the evidence, what to do. For
// a hang also the ranks' last collectives.
// Main thread; the models must outlive it.
#pragma once

#include "gui/models/findings/finding_page.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"
#include "rules/engine/check.h"

class QCheckBox;
class QLabel;
class QTextBrowser;

namespace sonde::gui {

class CollectivePane;
class TablePanel;

class FindingsView : public Panel {
  Q_OBJECT

 public:
  explicit FindingsView(TraceModels& models);

  [[nodiscard]] const ValueTable& table() const { return table_; }
  [[nodiscard]] TablePanel& rows() { return *rows_; }
  [[nodiscard]] QString page() const;
  [[nodiscard]] QTextBrowser& browser() { return *page_; }
  [[nodiscard]] CollectivePane& collectives() { return *collectives_; }

 protected:
  void read() override;

 private:
  void show();
  void showPage(int row);
  void readCollectives(const rules::CheckResult& result);

  ValueTable table_{allFindingColumns()};
  std::shared_ptr<const rules::CheckReport> check_;  // nullptr: not read yet
  std::vector<const rules::CheckResult*> shown_;     // by row of the table; parts of *check_
  QCheckBox* all_ = nullptr;
  QLabel* state_ = nullptr;
  TablePanel* rows_ = nullptr;
  QTextBrowser* page_ = nullptr;
  CollectivePane* collectives_ = nullptr;
};

}  // namespace sonde::gui
