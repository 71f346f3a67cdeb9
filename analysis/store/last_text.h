// Caches the meaning of the last word of a text column, since most rows repeat the previous word.
// Plain value; one thread.
#pragma once

#include <string>
#include <string_view>

namespace sonde::store {

template <typename Value>
class LastText {
 public:
  template <typename Find>
  const Value& of(std::string_view text, Find find) {
    if (!known_ || text != text_) {
      text_ = text;
      value_ = find(text);
      known_ = true;
    }
    return value_;
  }

 private:
  bool known_ = false;
  std::string text_;
  Value value_{};
};

}  // namespace sonde::store
