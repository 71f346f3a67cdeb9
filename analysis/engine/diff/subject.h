// What two sides are compared in. Plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::diff {

// In the order in which they are shown.
enum class Kind : std::uint8_t {
  Iteration,  // all of it
  Host,       // time for which an operation was innermost on some thread
  Compute,    // time in which a device ran kernels that an operation launched
  Copy,       // … copies and sets
  Comm,       // … kernels of collectives
  Kernel,     // the sum of the durations of the kernels of a name
  Phase,      // as Host
  Module,
  Category,  // of a breakdown: time in which the process or its devices did such things
};

constexpr std::string_view word(Kind kind) noexcept {
  constexpr std::string_view kWords[] = {
      "iteration", "host", "compute", "copy", "comm", "kernel", "phase", "module", "category"};
  return kWords[static_cast<std::size_t>(kind)];
}

struct Subject {
  Kind kind = Kind::Iteration;
  std::optional<std::int64_t> rank;  // nothing: all of them; or the processes without one
  std::optional<std::string> name;   // nothing: of an iteration, or outside of all of its kind

  auto operator<=>(const Subject&) const = default;
};

// Of each iteration in turn, in nanoseconds: 0 where the subject did not occur in it.
using Times = std::map<Subject, std::vector<double>>;

// Of which kinds there are subjects, beside the iteration.
struct Dimensions {
  bool operation = false;  // Host, Compute, Copy and Comm
  bool kernel = false;
  bool phase = false;
  bool module = false;
  bool category = false;
  bool rank = false;  // each rank by itself
};

}  // namespace sonde::engine::diff
