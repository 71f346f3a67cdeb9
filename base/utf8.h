// Makes text from a traced process safe for later readers. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// Whether `text` is UTF-8 without NUL, surrogates or overlong forms.
bool isText(std::string_view text) noexcept;

// Replaces every byte of `text` that breaks these rules by U+FFFD. SQLite stores any bytes as TEXT,
// but its functions stop at NUL, and JSON writers refuse invalid UTF-8.
std::string toText(std::string_view text);

}  // namespace sonde
