// How many rows each part of a report has, so that all of it fits on a screen. Plain values and a
// pure function; any thread.
#pragma once

#include <cstddef>
#include <functional>

namespace sonde::cli {

// At most; 0, which not all parts may have: it is left out.
struct RowLimits {
  std::size_t iterations = 6;  // ranks
  std::size_t throughput = 3;
  std::size_t times = 6;  // ranks
  std::size_t threads = 6;
  std::size_t python = 5;
  std::size_t usage = 5;  // subjects, of a line or two
  std::size_t operations = 12;
  std::size_t traffic = 4;
  std::size_t scalars = 3;

  static RowLimits none();  // no limits
};

// The limits with which `height`, lines, is at most `most`, if there are any: what tells least of
// where the time went gives way first, and the operations take the room that is left in the end.
// Requires: an operation more is at most a line more.
RowLimits fitted(const std::function<std::size_t(const RowLimits&)>& height, std::size_t most);

}  // namespace sonde::cli
