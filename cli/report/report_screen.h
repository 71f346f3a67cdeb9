// The number of rows of each part of a report, so that all of it fits on a screen. Plain values and
// a pure function; any thread.
#pragma once

#include <cstddef>
#include <functional>

namespace sonde::cli {

// Upper limits. 0 leaves a part out, which not all parts allow.
struct RowLimits {
  std::size_t iterations = 6;  // ranks
  std::size_t throughput = 3;
  std::size_t times = 6;  // ranks
  std::size_t threads = 6;
  std::size_t python = 5;
  std::size_t usage = 5;  // subjects of one or two lines
  std::size_t operations = 12;
  std::size_t traffic = 4;
  std::size_t scalars = 3;

  static RowLimits none();  // no limits
};

// The limits for which `height`, in lines, is at most `most`, if possible. The parts that explain
// the least time shrink first; the operations get the remaining room. Requires: one more operation
// adds at most one line.
RowLimits fitted(const std::function<std::size_t(const RowLimits&)>& height, std::size_t most);

}  // namespace sonde::cli
