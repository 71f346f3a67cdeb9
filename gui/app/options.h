// The command line of sonde-gui. A plain value; any thread.
#pragma once

#include "gui/app/look.h"
#include "gui/models/view_state.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace sonde::gui {

struct Options {
  QStringList traces;
  QString screenshot;  // a PNG to write instead of showing a window; empty: show it
  QString picture;     // an SVG to write as PNG, instead of a trace
  QString view = QStringLiteral("overview");
  // The time to show, since the begin of the trace; a single moment has no length.
  std::optional<Span> at;
  QString select;             // a part of the name of the event to select; empty: none
  std::optional<QSize> size;  // of the window in pixels
  std::optional<Look> look;   // not given: the user's last choice
};

// The result of reading the command line.
struct Parsed {
  bool run = false;
  int exitCode = 0;  // when !run
  Options options;
};

// Prints help, the version and errors itself. Exit codes: 2 usage.
[[nodiscard]] Parsed parseOptions(int argc, char** argv);

}  // namespace sonde::gui
