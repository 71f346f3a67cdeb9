// The program `sonde`, which the window starts for what needs a process of its own. Any thread.
#pragma once

#include <QString>

namespace sonde::gui {

// Beside this program, or in PATH; empty: neither.
[[nodiscard]] QString sondeProgram();

}  // namespace sonde::gui
