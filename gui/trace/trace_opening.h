// Opens the files that the user named: one trace, the ranks of a job, an unfinished recording, or
// files of other profilers.
//
// The window needs one file with levels of detail and indexes, which only a finished trace has. So
// several traces are merged, an unfinished recording is copied and finished, and files of other
// profilers are imported, in a temporary folder. It lives as long as the OpenedTrace, or until a
// signal ends the program. Named files are never written. Any thread.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/scratch.h"
#include "base/result.h"
#include "gui/trace/trace_import.h"

#include <QStringList>
#include <QTemporaryDir>

#include <memory>

namespace sonde::gui {

struct OpenedTrace {
  std::unique_ptr<store::Scratch> scratch;  // the folder's content; nullptr as below
  std::unique_ptr<QTemporaryDir>
      folder;  // holds the file of `database`; nullptr: it is the named file
  store::Database database;
  bool unfinished = false;
};

// Requires: paths is not empty.
[[nodiscard]] Result<OpenedTrace> openForViewing(const QStringList& paths,
                                                 const OpeningWatch& watch = {});

}  // namespace sonde::gui
