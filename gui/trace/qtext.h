// Converts texts of a trace to Qt's strings. Plain function; any thread.
#pragma once

#include <QString>

#include <string_view>

namespace sonde::gui {

// `text` is UTF-8; invalid bytes become U+FFFD.
inline QString qtext(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace sonde::gui
