// Writes a window's content as a PNG once all of it has been read and painted. Main thread.
#pragma once

#include <QString>

namespace sonde::gui {

class MainWindow;

// Runs the event loop until then. Returns the exit code: 0, or 3 after one line on stderr.
[[nodiscard]] int takeScreenshot(MainWindow& window, const QString& path);

}  // namespace sonde::gui
