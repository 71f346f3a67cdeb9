// Summary tables of kernels, copies, calls and ranges, one at a time. Main thread; the models must
// outlive it.
#pragma once

#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

class QComboBox;
class QLabel;

namespace sonde::gui {

class TablePanel;

class TablesView : public Panel {
  Q_OBJECT

 public:
  explicit TablesView(TraceModels& models);

  // Requires: `name` is one of summaryTitles().
  void choose(const QString& name);
  [[nodiscard]] const ValueTable& table() const { return table_; }
  [[nodiscard]] QString note() const;

 protected:
  void read() override;

 private:
  void showNote();

  ValueTable table_{{}};
  QComboBox* name_ = nullptr;
  bool isChosen_ = false;  // by the user; else the view chooses
  QLabel* note_ = nullptr;
  TablePanel* rows_ = nullptr;
};

}  // namespace sonde::gui
