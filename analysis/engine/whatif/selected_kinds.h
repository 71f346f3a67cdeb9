// The kinds of work that a selector means. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/selector.h"
#include "base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

// The kinds of work that are no kinds of slices.
enum class Part : std::uint8_t { Host, Kernel, Copy, Collective, Message };
inline constexpr std::size_t kParts = 5;

struct SelectedKinds {
  std::array<bool, kParts> parts{};
  std::vector<std::string> slices;  // words of model::SliceKind; empty: any, if Part::Host is meant

  bool has(Part part) const noexcept { return parts[static_cast<std::size_t>(part)]; }
};

// All parts if the selector has no key `kind`. InvalidArgument: its pattern matches no kind.
Result<SelectedKinds> kindsOf(const Selector& selector);

}  // namespace sonde::engine::whatif
