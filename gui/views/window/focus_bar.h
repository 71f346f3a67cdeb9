// Shows and sets the part of the job that the user looks at: a rank, an operation, a part of a
// name. Main thread; the models must outlive it.
#pragma once

#include "gui/models/focus.h"

#include <QWidget>

class QLineEdit;
class QTimer;
class QToolButton;

namespace sonde::gui {

class FocusBar : public QWidget {
  Q_OBJECT

 public:
  explicit FocusBar(Focus& focus, QWidget* parent = nullptr);

  // Puts the cursor into the text.
  void activate();
  [[nodiscard]] QLineEdit& text() { return *name_; }

 private:
  QToolButton* buttonOf(void (FocusBar::*clear)());
  void clearRank();
  void clearOperation();
  void setName();
  void show();

  Focus& focus_;
  QToolButton* rank_ = nullptr;
  QToolButton* operation_ = nullptr;
  QLineEdit* name_ = nullptr;
  QTimer* typing_ = nullptr;
};

}  // namespace sonde::gui
