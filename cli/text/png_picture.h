// Draws an SVG picture as PNG with sonde-gui, which has a renderer and finds fonts. So `sonde`,
// which runs beside jobs, needs neither. Plain function; any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace sonde::cli {

// Returns the bytes of the file. Unsupported: there is no sonde-gui beside sonde, or it cannot
// draw; the message has its output. Io: no room for temporary files.
Result<std::string> pngOf(std::string_view svg);

}  // namespace sonde::cli
