// The input line of the search by name. Enter: next, Shift+Enter: previous, Esc: close. Main
// thread.
#pragma once

#include "gui/trace/trace_data.h"

#include <QLabel>
#include <QLineEdit>
#include <QWidget>

namespace sonde::gui {

class SearchBar : public QWidget {
  Q_OBJECT

 public:
  explicit SearchBar(QWidget* parent = nullptr);

  void activate();
  void show(const SearchReply& reply);

 signals:
  void wanted(const QString& text, bool forward);
  void closed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QLineEdit* edit_;
  QLabel* answer_;
};

}  // namespace sonde::gui
