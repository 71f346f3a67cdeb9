// Quotes paths in commands that a message suggests. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// `text` as one word of a shell's command line; unchanged if it already is one.
std::string shellQuoted(std::string_view text);

}  // namespace sonde
