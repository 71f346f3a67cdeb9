// The icon of the program, in all usual sizes. Main thread.
#pragma once

#include <QIcon>

namespace sonde::gui {

// Requires: QApplication exists.
[[nodiscard]] QIcon programIcon();

}  // namespace sonde::gui
