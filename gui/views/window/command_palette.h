// A small window that finds an action of the menus by words of its text, and triggers it. Main
// thread.
#pragma once

#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QSortFilterProxyModel;
class QStandardItemModel;
class QTreeView;

namespace sonde::gui {

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  // Shows those of `actions` that are enabled. Requires: they outlive it.
  explicit CommandPalette(const QList<QAction*>& actions, QWidget* parent = nullptr);

  // The action that the user chose; nullptr: none yet. The caller triggers it when the dialog is
  // closed, so that it acts on the window below.
  [[nodiscard]] QAction* chosen() const { return chosen_; }

 protected:
  // The arrows move in the list while the text has the focus.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void addAction(QAction& action);
  void choose();

  QStandardItemModel* model_ = nullptr;
  QSortFilterProxyModel* matching_ = nullptr;
  QLineEdit* text_ = nullptr;
  QTreeView* list_ = nullptr;
  QAction* chosen_ = nullptr;
};

}  // namespace sonde::gui
