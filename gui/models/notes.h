// The user's notes on spans of the trace. They are kept in a file beside it, since the window
// changes no trace. Part of TraceModels. Main thread.
#pragma once

#include "gui/models/trace_document.h"
#include "gui/models/view_state.h"

#include <QObject>
#include <QString>

namespace sonde::gui {

class Notes : public QObject {
  Q_OBJECT

 public:
  // Requires: both outlive it.
  Notes(TraceDocument& document, ViewState& view);

  // The file of the notes: that of the first trace with ".notes.json" behind its name. That of an
  // unfinished recording is already that of the finished one. Empty: no trace is open.
  [[nodiscard]] QString file() const;
  // Marks the notes of the open trace. Requires: a trace is open, and its view was reset.
  void load();
  // Notes `text` on a span of job time, and saves; an empty text removes the note. Does nothing
  // without an open trace, or if its notes could not be read.
  void set(const Span& span, const QString& text);

 signals:
  // The file could not be read or written, and what to do.
  void failed(const QString& message);

 private:
  void save();

  TraceDocument& document_;
  ViewState& view_;
  bool isLoaded_ = false;  // else the file is not to be written
};

}  // namespace sonde::gui
