// The exit statuses of `sonde-gui`; docs/gui.md lists them.
#pragma once

namespace sonde::gui {

inline constexpr int kUnreadable = 3;  // a file cannot be read, or not be written

}  // namespace sonde::gui
