// The categories of a breakdown: what a process can be doing. Plain values; any thread.
#pragma once

#include "analysis/model/words.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::engine::breakdown {

// The last four are internal and have no word. Scope: a thread is in an annotation, and nothing
// recorded what it does there. Parked: a thread that works for no operation waits. Window: time
// passes. If nothing else is active, Scope and Window become `other`. Parked becomes `wait` if no
// other thread is in a scope or does anything. Masked: recorded in part, so the time is left out.
enum class Category : std::uint8_t {
  Python,
  Framework,
  Simulator,
  CudaApi,
  CommApi,
  Io,
  Wait,
  Other,
  Compute,
  Copy,
  Comm,
  Net,
  Scope,
  Parked,
  Window,
  Masked,
};
inline constexpr std::size_t kCategories = 12;  // those with a word
inline constexpr std::array<std::string_view, kCategories> kCategoryWords = {"python",
                                                                             "framework",
                                                                             "simulator",
                                                                             "cuda_api",
                                                                             "comm_api",
                                                                             "io",
                                                                             "wait",
                                                                             "other",
                                                                             "compute",
                                                                             "copy",
                                                                             "comm",
                                                                             "net"};

constexpr bool isDevice(Category category) noexcept {
  return category >= Category::Compute && category <= Category::Comm;
}

// The category of a thread whose innermost slice has this kind and `category` column. Returns Scope
// if the surrounding slice decides, and nullopt if the slice does not show what its thread does.
// `transitions`: the thread recorded when it entered and left native code, so the time between is
// Python. Without them, forward and backward passes, optimizers and modules are the framework's.
std::optional<Category> hostCategory(model::SliceKind kind,
                                     std::string_view category,
                                     bool transitions) noexcept;

}  // namespace sonde::engine::breakdown
