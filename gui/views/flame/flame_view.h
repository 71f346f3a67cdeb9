// Where time went by path of calls: a flame graph with a call tree and callers and callees beside
// it, and above it when in the iterations the job was busy. Follows the focus and the selected
// area. Main thread; the models must outlive it.
#pragma once

#include "gui/models/flame/flame_values.h"
#include "gui/views/panel.h"

#include <QPoint>

class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace sonde::gui {

class CallPane;
class FlameChart;
class LegendBar;
class ScopePane;

class FlameView : public Panel {
  Q_OBJECT

 public:
  using Node = engine::callpaths::CallNode;

  explicit FlameView(TraceModels& models);

  // Requires: the trace has rows of the source.
  void choose(FlameSource source);
  void invert(bool isInverted);
  void divideByThread(bool byThread);
  // Marks the names that contain the text.
  void search(const QString& text);
  [[nodiscard]] FlameChart& chart() { return *chart_; }
  [[nodiscard]] CallPane& calls() { return *calls_; }
  [[nodiscard]] ScopePane& scope() { return *scope_; }
  // The part of the trace that is shown; empty: everything.
  [[nodiscard]] QString limits() const;
  // The message instead of the flame graph; empty: it is shown.
  [[nodiscard]] QString state() const;
  // The actions for a frame.
  void fillMenu(QMenu& menu, Node node);

 protected:
  void read() override;

 private:
  QWidget* makeChoices();
  QWidget* makeGraph();
  void connectParts();
  void forget();
  void readScope();
  void show(const Result<FlameValues>& values);
  void showSources();
  void showState(const QString& text);
  void showMarked();
  void showLegend();
  void showCurrent(Node node);
  void follow();
  void focusName(const QString& name);
  void openMenu(Node node, const QPoint& globalPos);
  [[nodiscard]] QString nameOf(Node node) const;

  FlameChoice choice_;
  FlameValues values_;
  // The content of the shown cells; nullopt: none were read.
  std::optional<std::pair<FlameSource, engine::callpaths::PathFilter>> cellsOf_;
  QObject scopeReader_;
  QObject pathReader_;
  QComboBox* source_ = nullptr;
  QToolButton* inverted_ = nullptr;
  QToolButton* byThread_ = nullptr;
  QLineEdit* search_ = nullptr;
  QLabel* marked_ = nullptr;
  QLabel* limits_ = nullptr;
  QPushButton* everything_ = nullptr;
  ScopePane* scope_ = nullptr;
  QStackedWidget* layers_ = nullptr;
  QLabel* state_ = nullptr;
  FlameChart* chart_ = nullptr;
  LegendBar* legend_ = nullptr;
  QLabel* current_ = nullptr;
  CallPane* calls_ = nullptr;
};

}  // namespace sonde::gui
