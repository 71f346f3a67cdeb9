// Packs values into a blob, for a builder's state in the trace's recorder tables. The same version
// writes and reads it on the same machine. If a blob is too short, the rest reads as zeros and ok()
// returns false.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sonde::ingest {

class StatePacker {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  void putAll(const std::vector<T>& values) {
    put<std::uint64_t>(values.size());
    for (const T& value : values)
      put(value);
  }
  void putText(std::string_view text) {
    put<std::uint64_t>(text.size());
    bytes_.append(text);
  }
  const std::string& bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  std::string bytes_;
};

class StateUnpacker {
 public:
  explicit StateUnpacker(std::string_view bytes) noexcept : rest_(bytes) {}

  template <typename T>
  T get() noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (rest_.size() < sizeof value) {
      ok_ = false;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  template <typename T>
  std::vector<T> getAll() {
    const auto count = get<std::uint64_t>();
    std::vector<T> values;
    for (std::uint64_t at = 0; at < count && ok_; ++at)
      values.push_back(get<T>());
    return values;
  }
  std::string getText() {
    const auto size = std::min<std::uint64_t>(get<std::uint64_t>(), rest_.size());
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  bool ok() const noexcept { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace sonde::ingest
