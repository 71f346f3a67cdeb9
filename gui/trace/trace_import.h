// Converts files of other profilers to a trace, as `sonde import` does, which it runs as a program
// of its own: it can be stopped at any time. Any thread; blocks until the end.
#pragma once

#include "base/progress.h"
#include "base/result.h"

#include <QString>
#include <QStringList>

#include <functional>

namespace sonde::gui {

// How a long opening reports, and learns that it is no longer wanted.
struct OpeningWatch {
  Progress progress = {};
  std::function<bool()> isCancelled = [] { return false; };
};

// The file is no Sonde trace, but perhaps that of another profiler.
[[nodiscard]] bool isForeign(const QString& path);

// Writes the trace `output`. NotFound: the program sonde is neither beside this one nor in PATH.
// Unsupported: the files cannot be imported; the message says why. Io: cancelled, or not written.
[[nodiscard]] Result<void> importFiles(const QStringList& files,
                                       const QString& output,
                                       const OpeningWatch& watch);

}  // namespace sonde::gui
