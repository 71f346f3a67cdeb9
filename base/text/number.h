// Parses numbers. A plain function; any thread.
#pragma once

#include <optional>
#include <string>

namespace sonde {

// The number in `text`, if it is finite and all of the text.
std::optional<double> numberOf(const std::string& text);

}  // namespace sonde
