// What a process can be doing, as a breakdown names it. Plain values; any thread.
#pragma once

#include "analysis/model/words.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::engine::breakdown {

// The last four have no word of their own. Scope: a thread is in an annotation, and nothing was
// recorded of what it does there. Parked: a thread that works for no operation waits. Window: the
// time passes. Where nothing else is active, Scope and Window are `other`; Parked is `wait` where
// no other thread is in or does anything. Masked: not all is recorded, so the time is left out.
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
inline constexpr std::size_t kCategories = 12;  // that have a word
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

// Of a thread whose innermost slice is of this kind; `category` is the column of that name. Scope:
// what is around it decides. Nothing: the slice says nothing of what its thread does.
// `transitions`: the thread recorded when it entered and left native code, so that what lies in
// between is Python; else forward and backward passes, optimizers and modules are the framework's.
std::optional<Category> hostCategory(model::SliceKind kind,
                                     std::string_view category,
                                     bool transitions) noexcept;

}  // namespace sonde::engine::breakdown
