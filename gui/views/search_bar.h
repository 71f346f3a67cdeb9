// The line in which a name is typed that the timeline shall find. Enter: next, Shift+Enter:
// previous, Esc: away. Main thread.
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
