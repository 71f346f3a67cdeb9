// The call paths of the flame graph as tables: the call tree, and the callers and callees of a
// name. Main thread; the models must outlive it.
#pragma once

#include "gui/models/flame/call_tree_model.h"
#include "gui/models/flame/flame_values.h"
#include "gui/models/table/value_table.h"

#include <QTabWidget>

class QLabel;
class QTreeView;

namespace sonde::gui {

class TablePanel;

class CallPane : public QTabWidget {
  Q_OBJECT

 public:
  using Node = engine::callpaths::CallNode;

  explicit CallPane(QWidget* parent = nullptr);

  void show(const FlameValues& values);
  void clear();
  // Moves to a node of the shown tree, and to its name.
  void setCurrent(Node node);
  // Lists the callers and callees of a name, when their tab is in front; nothing if no frame has
  // it.
  void chooseName(const QString& name);
  // Brings their tab to the front.
  void showNeighbours();
  [[nodiscard]] const QString& name() const { return name_; }
  [[nodiscard]] const CallTreeModel& tree() const { return tree_; }
  [[nodiscard]] QTreeView& treeView() { return *treeView_; }
  [[nodiscard]] const ValueTable& names() const { return names_; }
  [[nodiscard]] const ValueTable& callers() const { return callers_; }
  [[nodiscard]] const ValueTable& callees() const { return callees_; }

 signals:
  void currentChanged(sonde::engine::callpaths::CallNode node);
  // A double click, or Enter, on a row of the tree.
  void zoomWanted(sonde::engine::callpaths::CallNode node);
  void menuWanted(sonde::engine::callpaths::CallNode node, const QPoint& globalPos);
  void placeWanted(const sonde::gui::Place& place);

 private:
  QWidget* makeTree();
  QWidget* makeNeighbours();
  TablePanel* neighbourTable(ValueTable& table);
  void fillNeighbours();
  void selectName();

  CallTreeModel tree_;
  ValueTable names_{nameColumns(ValueKind::Duration)};
  ValueTable callers_{neighbourColumns(tr("callers"), ValueKind::Duration)};
  ValueTable callees_{neighbourColumns(tr("callees"), ValueKind::Duration)};
  std::shared_ptr<const engine::callpaths::CallTree> paths_;  // nullptr: nothing
  ValueKind unit_ = ValueKind::Duration;
  QString name_;
  QTreeView* treeView_ = nullptr;
  TablePanel* namesPanel_ = nullptr;
  QLabel* chosen_ = nullptr;
};

}  // namespace sonde::gui
