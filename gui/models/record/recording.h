// A run of `sonde run` that the window has started: its command, what it prints, and its end.
// Main thread.
#pragma once

#include "base/result.h"

#include <QDateTime>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>

#include <vector>

namespace sonde::gui {

// A probe of `sonde run --sources` that records only if it is asked for.
struct OptionalSource {
  const char* name;
  const char* purpose;
};
[[nodiscard]] const std::vector<OptionalSource>& optionalSources();

// Names of files are relative to the present folder.
struct RecordingPlan {
  QString command;              // one program with its arguments, quoted as in a shell
  QString folder;               // that the command runs in; empty: the present one
  QString output;               // the trace
  QStringList sources;          // of optionalSources()
  QString torchOperators;       // empty, "names" or "shapes"
  QString rules;                // a file; empty: the run is not judged
  bool replaces = false;        // an existing trace of that name
  bool stopsOnFinding = false;  // a finding of severity error ends the job

  // The words of `sonde run`. InvalidArgument: there is no command, or no output, or
  // the command needs a shell.
  [[nodiscard]] Result<QStringList> words() const;
};

class Recording : public QObject {
  Q_OBJECT

 public:
  explicit Recording(QObject* parent = nullptr);
  // Ends the job, and waits until its trace is complete.
  ~Recording() override;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // InvalidArgument: as RecordingPlan::words(), or the trace exists and may not be replaced.
  // NotFound: there is no program `sonde`. Requires: it does not run.
  [[nodiscard]] Result<void> start(const RecordingPlan& plan);
  // Ends the job as Ctrl-C does; the trace is completed.
  void stop();
  [[nodiscard]] bool isRunning() const { return program_.state() != QProcess::NotRunning; }
  // The trace; while the job runs, the unfinished one, or empty before there is one.
  [[nodiscard]] QString trace() const;

 signals:
  // The job, its recorder or a live rule printed this, perhaps several lines.
  void printed(const QString& text);
  // `trace` is empty if this run wrote none; then `message` says why. It also says if the job
  // failed.
  void ended(const QString& trace, const QString& message);

 private:
  void end();

  QProcess program_;
  QString output_;
  QString last_;      // line of the output
  QDateTime before_;  // when a file of that name was last written; invalid: there was none
};

}  // namespace sonde::gui
