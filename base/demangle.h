// Names of C++ functions as people write them. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// The mangled name ("_Z…") readable; any other text as it is.
std::string demangled(std::string_view name);

}  // namespace sonde
