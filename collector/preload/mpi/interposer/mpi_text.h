// Builds text in a fixed buffer and cuts it to fit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::preload::mpi {

class TextWriter {
 public:
  // `size` > 0
  TextWriter(char* buffer, std::size_t size) noexcept : at_(buffer), end_(buffer + size - 1) {
    *at_ = '\0';
  }
  TextWriter& text(const char* from) noexcept {
    while (*from != '\0' && at_ != end_)
      *at_++ = *from++;
    *at_ = '\0';
    return *this;
  }
  TextWriter& number(std::uint64_t value) noexcept { return digits(value, 10, 1); }
  TextWriter& hexadecimal(std::uint64_t value) noexcept { return digits(value, 16, 16); }

 private:
  TextWriter& digits(std::uint64_t value, unsigned base, int atLeast) noexcept {
    char reversed[24];
    int count = 0;
    for (; value != 0 || count < atLeast; value /= base)
      reversed[count++] = "0123456789abcdef"[value % base];
    while (count > 0 && at_ != end_)
      *at_++ = reversed[--count];
    *at_ = '\0';
    return *this;
  }

  char* at_;
  char* end_;
};

}  // namespace sonde::preload::mpi
