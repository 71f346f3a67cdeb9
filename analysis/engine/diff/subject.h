// The subjects in which two sides are compared. Plain values.
#pragma once

#include "base/result.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::diff {

// In display order.
enum class Kind : std::uint8_t {
  Iteration,  // the whole iteration
  Host,       // time for which an operation was innermost on some thread
  Compute,    // time in which a device ran kernels that an operation launched
  Copy,       // as Compute, for copies and sets
  Comm,       // as Compute, for kernels of collectives
  Kernel,     // sum of the durations of the kernels with one name
  Phase,      // as Host
  Module,
  Category,  // of a breakdown: time in which the process or its devices were in it
};

constexpr std::string_view word(Kind kind) noexcept {
  constexpr std::string_view kWords[] = {
      "iteration", "host", "compute", "copy", "comm", "kernel", "phase", "module", "category"};
  return kWords[static_cast<std::size_t>(kind)];
}

struct Subject {
  Kind kind = Kind::Iteration;
  std::optional<std::int64_t> rank;  // unset: all of them; or the processes without one
  std::optional<std::string> name;   // unset: an iteration, or outside of all of its kind

  auto operator<=>(const Subject&) const = default;
};

// The subject's time in each iteration, in nanoseconds; 0 if it did not occur.
using Times = std::map<Subject, std::vector<double>>;

// The kinds of subjects to observe, beside the iteration.
struct Dimensions {
  bool operation = false;  // Host, Compute, Copy and Comm
  bool kernel = false;
  bool phase = false;
  bool module = false;
  bool category = false;
  bool rank = false;  // each rank by itself
};

// From the words of `sonde diff --by`. InvalidArgument: an unknown word; the message lists all.
Result<Dimensions> dimensionsOf(const std::vector<std::string>& words);

// Whether subjects of this kind are observed with these dimensions.
bool isObserved(Kind kind, const Dimensions& by) noexcept;

}  // namespace sonde::engine::diff
