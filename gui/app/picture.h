// Pictures that `sonde` has made as SVG, drawn as PNG. The thread of the application.
#pragma once

#include <QString>

namespace sonde::gui {

// Twice as large as the picture says, so that small letters can be read. The exit status; what goes
// wrong is told on stderr.
int drawPicture(const QString& svg, const QString& png);

}  // namespace sonde::gui
