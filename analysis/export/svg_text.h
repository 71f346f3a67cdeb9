// Text within SVG files. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde::exports {

// As it stands in an element or an attribute; control characters are blanks.
std::string svgEscaped(std::string_view text);

// Letters, not bytes.
std::size_t letterCount(std::string_view text);

// The first letters and "..", where there are more than `most`; empty where these say nothing.
std::string svgShortened(std::string_view text, std::size_t most);

}  // namespace sonde::exports
