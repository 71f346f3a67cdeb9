// Kernels whose recorded times cannot be true, by process. Plain values; reading uses the
// database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::device {

enum class Impossibility : std::uint8_t {
  NoTime,    // it took no time, or a negative one
  Overlaps,  // the next kernel of its stream begins before it ends; kernels of graphs may do so,
             // and those of NVIDIA's devices from Hopper on
  Late,      // it ends after a call returned that waited for its stream or device
  TooFast,   // its operator's arithmetic takes longer at the published peak of the device
};
inline constexpr std::size_t kImpossibilities = 4;
std::string_view word(Impossibility kind) noexcept;

struct ImpossibleTolerance {
  std::int64_t overlapNs = 0;  // longer overlaps count
  std::int64_t lateNs = 0;     // so do kernels that end later than this
  double fasterThanPeak = 1;   // so do operators faster than the peak by more than this factor
};

struct ImpossibleKernels {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::int64_t kernels = 0;
  std::int64_t waitedFor = 0;  // of these: a recorded call waited for them
  std::int64_t compared = 0;   // of these: their work and the peak of their device are known
  std::int64_t impossible = 0;
  std::array<std::int64_t, kImpossibilities> ofKind{};  // a kernel may be of several
  // The first one.
  std::string firstName;
  std::int64_t firstNs = 0;
};

// By process. A product of matrices or an attention of known sizes is compared with the peak for
// its type; convolutions are not, since fast algorithms do less arithmetic. O(n log n) for n
// kernels.
Result<std::vector<ImpossibleKernels>> impossibleKernels(const store::Database& trace,
                                                         const ImpossibleTolerance& tolerance);

}  // namespace sonde::engine::device
