// Converts texts of a trace to Qt's strings. Plain functions; any thread.
#pragma once

#include <QString>

#include <string_view>

namespace sonde::gui {

// `text` is UTF-8; invalid bytes become U+FFFD.
inline QString qtext(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

// A word of the command line's JSON for people: "wake up" of "wake_up".
inline QString spaced(std::string_view word) {
  return qtext(word).replace(u'_', u' ');
}

}  // namespace sonde::gui
