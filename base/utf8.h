// Text from a traced process, made safe for what reads it later. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// Whether `text` is UTF-8 without NUL, surrogates or overlong forms.
bool isText(std::string_view text) noexcept;

// `text` with every byte that keeps it from being such text replaced by U+FFFD. SQLite stores any
// bytes as TEXT, but its functions stop at NUL and JSON writers refuse the rest.
std::string toText(std::string_view text);

}  // namespace sonde
