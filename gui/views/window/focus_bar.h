// Shows and sets the part of the job that the user looks at: the selected span of time, a rank, an
// operation, a part of a name. Main thread; the models must outlive it.
#pragma once

#include "gui/models/trace_models.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QTimer;
class QToolButton;

namespace sonde::gui {

class FocusBar : public QWidget {
  Q_OBJECT

 public:
  explicit FocusBar(TraceModels& models, QWidget* parent = nullptr);

  // Puts the cursor into the text.
  void activate();
  // "10.2 ms – 14.8 ms"; empty: no span is selected.
  [[nodiscard]] QString timeText() const;
  [[nodiscard]] QLineEdit& text() { return *name_; }

 private:
  QToolButton* buttonOf(void (FocusBar::*clear)());
  void emphasise();
  void clearTime();
  void clearRank();
  void clearOperation();
  void setName();
  void show();
  void showTime();

  TraceModels& models_;
  Focus& focus_;
  QLabel* only_ = nullptr;
  QToolButton* time_ = nullptr;
  QToolButton* rank_ = nullptr;
  QToolButton* operation_ = nullptr;
  QLineEdit* name_ = nullptr;
  QTimer* typing_ = nullptr;
};

}  // namespace sonde::gui
