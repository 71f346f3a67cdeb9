// Text within SVG files. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde::exports {

// Escapes text for an element or an attribute; control characters become blanks.
std::string svgEscaped(std::string_view text);

// Counts letters, not bytes.
std::size_t letterCount(std::string_view text);

// The first letters and ".." if there are more than `most`; empty if too few letters fit.
std::string svgShortened(std::string_view text, std::size_t most);

}  // namespace sonde::exports
