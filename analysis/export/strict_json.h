// Texts that writers and readers of traces take for JSON, made JSON. A plain function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sonde::exports {

// Puts quotes around each word and number that JSON does not have: NaN, -Infinity, 0x1f. JSON stays
// as it is; what is none even so, or has numbers past a double's range or half a surrogate pair,
// becomes the string "args" of an object.
std::string strictJson(std::string_view text);

}  // namespace sonde::exports
