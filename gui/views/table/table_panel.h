// A ValueTable on screen: sorted by a click on a header, filtered by a text, copied as CSV or
// Markdown. Main thread.
#pragma once

#include "gui/models/table/row_filter.h"
#include "gui/models/table/value_table.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QTableView;

namespace sonde::gui {

class TablePanel : public QWidget {
  Q_OBJECT

 public:
  enum class Filter { None, Line };

  // Requires: `table` outlives it.
  explicit TablePanel(ValueTable& table, Filter filter = Filter::Line, QWidget* parent = nullptr);

  void sortBy(int column, Qt::SortOrder order = Qt::DescendingOrder);
  // Makes a row of the ValueTable the current one, and brings it into view; nothing if it is
  // filtered out.
  void selectRow(int row);
  // The column that takes the room that is left. By default the first one.
  void stretch(int column);
  // Shows only rows of this part of the job. A line says how many rows that hides.
  void setPart(const Focus::Part& part);
  // "12 of 340 rows: limited to rank 3"; empty: no row is hidden by the part.
  [[nodiscard]] QString limits() const;
  [[nodiscard]] QTableView& view() { return *view_; }
  [[nodiscard]] const RowFilter& shown() const { return shown_; }

 signals:
  // The user clicked a row, or moved to it by a key: its number in the ValueTable.
  void currentRowChanged(int row);
  // The user wants to see the row's place in the timeline: by a double click, or Enter.
  void opened(const sonde::gui::Place& place);
  // The user wants all views to show only the row's rank, operation or name.
  void partWanted(const sonde::gui::Place& place);
  // The user wants to see the rows that the part hides.
  void allWanted();

 private:
  void buildMenu();
  void fitColumns();
  void showLimits();
  [[nodiscard]] int rowAt(const QModelIndex& index) const;

  ValueTable& table_;
  RowFilter shown_;
  QLineEdit* text_ = nullptr;
  QLabel* limits_ = nullptr;
  QTableView* view_ = nullptr;
  int stretched_ = 0;  // the column that takes the room that others leave
};

}  // namespace sonde::gui
