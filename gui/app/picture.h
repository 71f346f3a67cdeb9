// Draws SVG pictures from `sonde` as PNG. The thread of the application.
#pragma once

#include <QString>

namespace sonde::gui {

// Doubles the picture's own size, so that small letters are readable. Returns the exit status;
// reports errors on stderr.
int drawPicture(const QString& svg, const QString& png);

}  // namespace sonde::gui
