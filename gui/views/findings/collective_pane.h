// Below a finding that a job hangs: which rank did which collective, and what the colours mean.
// Main thread.
#pragma once

#include "gui/models/findings/collective_matrix.h"

#include <QWidget>

class QLabel;
class QTableView;

namespace sonde::gui {

class CollectivePane : public QWidget {
  Q_OBJECT

 public:
  explicit CollectivePane(QWidget* parent = nullptr);

  // Hides it if there is nothing to show. Scrolls to the newest collective.
  void show(std::optional<CollectiveMatrix::States> states);
  [[nodiscard]] const CollectiveMatrix& matrix() const { return matrix_; }
  [[nodiscard]] QTableView& view() { return *view_; }
  // About the cell that the user clicked; empty: none yet.
  [[nodiscard]] QString chosen() const;

 signals:
  void placeWanted(const sonde::gui::Place& place);

 private:
  void choose(const QModelIndex& index);

  CollectiveMatrix matrix_;
  QLabel* title_ = nullptr;
  QTableView* view_ = nullptr;
  QLabel* chosen_ = nullptr;
};

}  // namespace sonde::gui
