// A row id that cannot be mistaken for the id of another table.
//
// A plain value of any thread. 0 is no id: it is what a default-made one holds, is written as NULL
// and read from NULL.
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
