// The command line of sonde-gui. A plain value; any thread.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

namespace sonde::gui {

struct Options {
  enum class Theme { System, Light, Dark };
  QStringList traces;
  QString screenshot;  // a PNG to write instead of showing a window; empty: show it
  QString picture;     // an SVG to write as PNG, instead of a trace
  QString view = QStringLiteral("overview");
  QSize size{1440, 900};
  Theme theme = Theme::System;
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
