// Turns almost-JSON texts of other tools into JSON. A plain function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sonde::exports {

// Puts quotes around each word and number that is not JSON: NaN, -Infinity, 0x1f. JSON stays as it
// is. A text that still is not JSON, has numbers beyond a double's range, or half a surrogate pair,
// becomes the string "args" of an object.
std::string strictJson(std::string_view text);

}  // namespace sonde::exports
