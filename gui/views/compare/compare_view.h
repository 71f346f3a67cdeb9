// This trace against another one: which operations and kernels got slower or faster, and how
// certain that is. Main thread; the models must outlive it.
#pragma once

#include "gui/models/compare/trace_difference.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <QStringList>

class QLabel;
class QPushButton;

namespace sonde::gui {

class CompareView : public Panel {
  Q_OBJECT

 public:
  explicit CompareView(TraceModels& models);

  // Compares with these traces, which were recorded before.
  void compareWith(const QStringList& before);
  [[nodiscard]] const ValueTable& table() const { return table_; }
  [[nodiscard]] QString sentence() const;

 protected:
  void read() override;

 private:
  void chooseFiles();
  void show(const Result<engine::diff::Diff>& diff);

  ValueTable table_{differenceColumns()};
  QStringList before_;  // empty: none chosen
  QLabel* names_ = nullptr;
  QLabel* sentence_ = nullptr;
};

}  // namespace sonde::gui
