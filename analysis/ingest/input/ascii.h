// Classify ASCII characters; the locale has no influence. Plain functions; any thread.
#pragma once

namespace sonde::ingest {

constexpr bool isDigit(char c) noexcept {
  return c >= '0' && c <= '9';
}

constexpr bool isLetter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace sonde::ingest
