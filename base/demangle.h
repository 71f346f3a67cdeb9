// Readable names of C++ functions. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// Demangles `name` ("_Z…"); returns any other text unchanged.
std::string demangled(std::string_view name);

}  // namespace sonde
