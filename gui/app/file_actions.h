// Opens, records and saves files for the main window: chosen traces, pictures of views, parts of a
// trace. Main thread; a part of the window.
#pragma once

#include "gui/models/view_state.h"

#include <QObject>
#include <QString>
#include <QStringList>

class QWidget;

namespace sonde::gui {

class MainWindow;
class RecordDialog;
class WelcomePage;

class FileActions : public QObject {
  Q_OBJECT

 public:
  explicit FileActions(MainWindow& window);

  // Lets the user choose traces, and opens them.
  void choose();
  // The page that the overview shows before a trace is open.
  void buildWelcome();
  // Shows the dialog that records a training, beside the window.
  void record();
  // Ends a training that is being recorded if the user agrees, and closes the window once its trace
  // is complete. Returns whether the window may close now.
  [[nodiscard]] bool mayClose();
  [[nodiscard]] RecordDialog& recorder();
  // Asks for a file, and draws the view in front there.
  void savePicture();
  // Asks for a file, and writes the selected span as a trace there. Without a span it says so.
  void saveSpan();
  // Writes this span of job time; the status bar says when it is done, or why it failed. Requires:
  // a trace is open.
  void writeSpan(const Span& span, const QString& path);

 private:
  void connectRecorder();
  // Shows the present state of a recording, unless the user has gone on to another trace.
  void showRecording(const QString& trace);

  MainWindow& window_;
  WelcomePage* welcome_ = nullptr;
  RecordDialog* recorder_ = nullptr;  // made when it is first wanted
  // The trace in the window that the recording may replace: the one from before, then its own.
  QStringList shown_;
  bool isFollowed_ = false;  // its own
};

// Draws the widget as PNG or, if the name ends so, as SVG. Returns what went wrong; empty: nothing.
[[nodiscard]] QString drawWidget(QWidget& widget, const QString& path);

}  // namespace sonde::gui
