// Texts of a trace as Qt's. Plain function; any thread.
#pragma once

#include <QString>

#include <string_view>

namespace sonde::gui {

// `text` is UTF-8; what is none becomes U+FFFD.
inline QString qtext(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace sonde::gui
