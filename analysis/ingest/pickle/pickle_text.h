// The escaped texts of pickles of protocol 0. Free functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonde::ingest {

// Opcode STRING: a literal in quotes with Python's escapes ('it\'s\n'). Unset: it is malformed.
std::optional<std::string> unquoted(std::string_view literal);

// Opcode UNICODE: Latin-1 with \uXXXX and \UXXXXXXXX, as UTF-8. Unset: it is malformed.
std::optional<std::string> unescaped(std::string_view text);

}  // namespace sonde::ingest
