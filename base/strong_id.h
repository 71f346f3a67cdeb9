// A row id that cannot be confused with the id of another table.
//
// A plain value; any thread. 0 is the default, means "no id", and is stored as NULL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace sonde {

template <typename Tag>
struct StrongId {
  std::int64_t value = 0;

  explicit constexpr operator bool() const noexcept { return value != 0; }
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) noexcept = default;
};

}  // namespace sonde

template <typename Tag>
struct std::hash<sonde::StrongId<Tag>> {
  std::size_t operator()(sonde::StrongId<Tag> id) const noexcept {
    return std::hash<std::int64_t>{}(id.value);
  }
};
