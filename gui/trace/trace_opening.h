// Opening what a person named: one trace, the ranks of a job, or a recording that was not finished.
//
// The window reads levels of detail and indexes, which only a finished trace has, and one file, not
// many. So several traces are merged, and an unfinished recording is copied and finished, in a
// temporary folder that lives as long as the OpenedTrace, or until a signal ends the program. The
// files that were named are never written. Any thread.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/scratch.h"
#include "base/result.h"

#include <QStringList>
#include <QTemporaryDir>

#include <memory>

namespace sonde::gui {

struct OpenedTrace {
  std::unique_ptr<store::Scratch> scratch;  // what is in the folder; nullptr as below
  std::unique_ptr<QTemporaryDir>
      folder;  // holds the file behind `database`; nullptr: it is the named one
  store::Database database;
  bool unfinished = false;
};

// Requires: paths is not empty.
[[nodiscard]] Result<OpenedTrace> openForViewing(const QStringList& paths);

}  // namespace sonde::gui
