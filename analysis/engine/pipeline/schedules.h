// In which order the stages of a pipeline compute the microbatches. Plain values; any thread.
//
// Sources: GPipe (Huang et al., 2019); PipeDream (Narayanan et al., SOSP'19) for 1F1B and for
// pipelines without a flush; Megatron-LM (Narayanan et al., SC'21, section 2.2) for interleaved
// 1F1B.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde::engine::pipeline {

enum class Schedule : std::uint8_t {
  GPipe,        // all forwards, then all backwards
  OneF1B,       // as few forwards as possible ahead of the backwards
  Interleaved,  // the same with several chunks of the model a stage, which take turns
  Async,        // 1F1B that does not stop between iterations
};
inline constexpr std::size_t kSchedules = 4;

// The words of the command line: gpipe, 1f1b, interleaved, async.
const char* nameOf(Schedule schedule) noexcept;
std::optional<Schedule> scheduleNamed(std::string_view name) noexcept;

struct Shape {
  std::int64_t stages = 1;
  std::int64_t chunks = 1;  // of the model, on each stage
  std::int64_t microbatches = 1;

  bool operator==(const Shape&) const = default;
};

// A stage computes one microbatch on one of its chunks.
struct Turn {
  bool isForward = true;
  std::int64_t iteration = 0;
  std::int64_t microbatch = 0;  // of the iteration
  std::int64_t chunk = 0;

  bool operator==(const Turn&) const = default;
};

// The order of a stage's work, over all iterations.
using Order = std::vector<Turn>;

// By stage. InvalidArgument: a pipeline of this shape cannot have the schedule. Chunk c of stage s
// is the part c · stages + s of the model.
Result<std::vector<Order>> ordersOf(Schedule schedule,
                                    const Shape& shape,
                                    std::int64_t iterations = 1);

// The most microbatches, counted by chunk, whose forward a stage has done and their backward not.
std::int64_t mostInFlight(const Order& order);

}  // namespace sonde::engine::pipeline
