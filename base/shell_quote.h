// Paths in commands that a message tells the user to type. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// As one word of a shell's command line; as it is where that is one already.
std::string shellQuoted(std::string_view text);

}  // namespace sonde
