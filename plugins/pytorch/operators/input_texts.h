// The texts that record an operator's inputs: "[[2, 3], []]" and "[float, Int]". Every operator
// creates one, so a text of usual length needs only stack memory.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::torch {

class InputText {
 public:
  using Sizes = std::vector<std::int64_t>;

  // Both throw std::bad_alloc if there is no memory for a long text.
  explicit InputText(const std::vector<Sizes>& shapes) {
    std::size_t most = kBrackets;
    for (const Sizes& sizes : shapes)
      most += kBrackets + kSeparator + sizes.size() * (kLongestNumber + kSeparator);
    char* const text = roomFor(most);
    length_ = static_cast<std::size_t>(writeShapes(text, shapes) - text);
  }
  explicit InputText(const std::vector<std::string>& types) {
    std::size_t most = kBrackets;
    for (const std::string& type : types)
      most += kSeparator + type.size();
    char* const text = roomFor(most);
    length_ = static_cast<std::size_t>(writeTypes(text, types) - text);
  }

  const char* data() const noexcept { return long_ == nullptr ? short_.data() : long_.get(); }
  std::size_t size() const noexcept { return length_; }
  std::string_view view() const noexcept { return {data(), length_}; }

 private:
  static constexpr std::size_t kBrackets = 2;
  static constexpr std::size_t kSeparator = 2;
  static constexpr std::size_t kLongestNumber = 20;

  char* roomFor(std::size_t bytes) {
    if (bytes <= short_.size())
      return short_.data();
    long_.reset(new char[bytes]);
    return long_.get();
  }

  // The write position is passed in a register. The compiler would reload a member after each
  // letter, because the letter could overwrite it.
  static char* writeShapes(char* at, const std::vector<Sizes>& shapes) noexcept {
    *at++ = '[';
    for (const Sizes& sizes : shapes) {
      at = separate(at, &sizes == shapes.data());
      at = writeSizes(at, sizes);
    }
    *at++ = ']';
    return at;
  }
  static char* writeSizes(char* at, const Sizes& sizes) noexcept {
    *at++ = '[';
    for (const std::int64_t& size : sizes) {
      at = separate(at, &size == sizes.data());
      at = std::to_chars(at, at + kLongestNumber, size).ptr;
    }
    *at++ = ']';
    return at;
  }
  static char* writeTypes(char* at, const std::vector<std::string>& types) noexcept {
    *at++ = '[';
    for (const std::string& type : types) {
      at = separate(at, &type == types.data());
      at += type.copy(at, type.size());
    }
    *at++ = ']';
    return at;
  }
  static char* separate(char* at, bool isFirst) noexcept {
    if (isFirst)
      return at;
    *at++ = ',';
    *at++ = ' ';
    return at;
  }

  std::array<char, 512> short_;  // not initialised: that would take longer than the text
  std::unique_ptr<char[]> long_;
  std::size_t length_ = 0;
};

}  // namespace sonde::torch
