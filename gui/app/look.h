// The colours of the windows: those of the desktop, or light or dark ones. Main thread.
#pragma once

#include <QString>

#include <optional>

namespace sonde::gui {

enum class Look { System, Light, Dark };

// The word of `--theme`.
[[nodiscard]] QString wordOf(Look look);
[[nodiscard]] std::optional<Look> lookOf(const QString& word);

// Gives all windows these colours, at any time. Light and dark also have Qt's own style, so that
// they are the same on every machine.
void applyLook(Look look);

}  // namespace sonde::gui
