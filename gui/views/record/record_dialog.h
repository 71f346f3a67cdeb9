// Runs a training under Sonde from the window: what to record, the output and the verdicts of live
// rules while it runs, and the trace at its end. Main thread.
#pragma once

#include "gui/models/record/recording.h"

#include <QDialog>
#include <QTimer>

#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QWidget;

namespace sonde::gui {

class RecordDialog : public QDialog {
  Q_OBJECT

 public:
  explicit RecordDialog(QWidget* parent = nullptr);

  [[nodiscard]] RecordingPlan plan() const;
  void setPlan(const RecordingPlan& plan);
  [[nodiscard]] bool isRunning() const { return recording_.isRunning(); }
  // The text that the job, its recorder and live rules have printed.
  [[nodiscard]] QString output() const;
  // For the user: the state, or what is wrong.
  [[nodiscard]] QString state() const;
  void start();
  void stop() { recording_.stop(); }
  // Emits grown() if the user follows the recording. A timer calls it.
  void tellGrowth();

 signals:
  void started();
  // The user follows the recording, and its unfinished trace may have grown.
  void grown(const QString& unfinished);
  // The job has ended, and its trace is complete.
  void recorded(const QString& trace);
  // The job has ended, with or without a trace.
  void ended();
  // The user wants to see the trace.
  void openWanted(const QString& trace);

 private:
  QWidget* buildForm();
  QWidget* fileLine(QLineEdit* edit, bool isOutput);
  void showRunning();
  void append(const QString& text);
  void end(const QString& trace, const QString& message);

  Recording recording_;
  QTimer follow_;
  QWidget* form_ = nullptr;
  QLineEdit* command_ = nullptr;
  QLineEdit* folder_ = nullptr;
  QLineEdit* output_ = nullptr;
  QLineEdit* rules_ = nullptr;
  QComboBox* operators_ = nullptr;
  QCheckBox* replaces_ = nullptr;
  QCheckBox* stops_ = nullptr;
  QCheckBox* follows_ = nullptr;
  std::vector<QCheckBox*> sources_;  // in the order of optionalSources()
  QPlainTextEdit* printed_ = nullptr;
  QLabel* state_ = nullptr;
  QPushButton* start_ = nullptr;
  QPushButton* show_ = nullptr;
  QPushButton* stop_ = nullptr;
};

}  // namespace sonde::gui
