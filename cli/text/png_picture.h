// An SVG picture as PNG: drawn by sonde-gui, which has a renderer and finds fonts, so that `sonde`
// itself, which lies beside jobs, needs neither. Plain function; any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace sonde::cli {

// The bytes of the file. Unsupported: there is no sonde-gui beside sonde, or it cannot draw, with
// what it says. Io: there is no place for what is between.
Result<std::string> pngOf(std::string_view svg);

}  // namespace sonde::cli
