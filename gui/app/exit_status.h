// Exit statuses of `sonde-gui`; docs/gui.md lists all of them.
#pragma once

namespace sonde::gui {

inline constexpr int kUnreadable = 3;  // a file cannot be read or written

}  // namespace sonde::gui
