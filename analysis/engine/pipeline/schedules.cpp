#include "analysis/engine/pipeline/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde::engine::pipeline {
namespace {

constexpr std::array<const char*, kSchedules> kNames = {"gpipe", "1f1b", "interleaved", "async"};

Error impossible(Schedule schedule, const std::string& why) {
  return {ErrorCode::InvalidArgument,
          fmt::format("a pipeline cannot have the schedule '{}': {}", nameOf(schedule), why)};
}

Result<void> check(Schedule schedule, const Shape& shape) {
  if (shape.stages < 1 || shape.chunks < 1 || shape.microbatches < 1)
    return impossible(schedule, "it needs at least one stage, one chunk and one microbatch");
  if (schedule != Schedule::Interleaved && shape.chunks > 1)
    return impossible(
        schedule,
        fmt::format("only 'interleaved' has several chunks on a stage, and here are {}",
                    shape.chunks));
  if (schedule != Schedule::Interleaved)
    return {};
  if (shape.chunks < 2 || shape.stages < 2)
    return impossible(schedule,
                      fmt::format("it needs at least two stages and two chunks on each, and here "
                                  "are {} and {}",
                                  shape.stages,
                                  shape.chunks));
  if (shape.microbatches % shape.stages != 0)
    return impossible(
        schedule,
        fmt::format(
            "{} microbatches are not a multiple of {} stages", shape.microbatches, shape.stages));
  return {};
}

// The order of one stage.
class OrderMaker {
 public:
  OrderMaker(const Shape& shape, std::int64_t iterations)
      : shape_(shape), ofIteration_(shape.microbatches * shape.chunks), iterations_(iterations) {}

  // `ahead`: how many forwards come before the first backward; then both take turns. Without a
  // flush that goes on through all iterations.
  Order make(std::int64_t ahead, bool hasFlush) {
    const std::int64_t all = ofIteration_ * (hasFlush ? 1 : iterations_);
    ahead = std::min(ahead, all);
    for (std::int64_t first = 0; first < ofIteration_ * iterations_; first += all) {
      for (std::int64_t at = 0; at < ahead; ++at)
        add(true, first + at);
      for (std::int64_t at = ahead; at < all; ++at) {
        add(true, first + at);
        add(false, first + at - ahead);
      }
      for (std::int64_t at = all - ahead; at < all; ++at)
        add(false, first + at);
    }
    return std::move(order_);
  }

 private:
  // The n-th forward or backward of the stage. Chunks take turns after as many microbatches as
  // there are stages; in backwards the last chunk comes first.
  void add(bool isForward, std::int64_t n) {
    const std::int64_t at = n % ofIteration_;
    Turn turn{isForward, n / ofIteration_, at, 0};
    if (shape_.chunks > 1) {
      const std::int64_t group = shape_.stages * shape_.chunks;
      const std::int64_t chunk = at % group / shape_.stages;
      turn.chunk = isForward ? chunk : shape_.chunks - 1 - chunk;
      turn.microbatch = at / group * shape_.stages + at % shape_.stages;
    }
    order_.push_back(turn);
  }

  const Shape& shape_;
  std::int64_t ofIteration_;  // forwards of an iteration
  std::int64_t iterations_;
  Order order_;
};

std::int64_t aheadOf(Schedule schedule, const Shape& shape, std::int64_t stage) {
  const std::int64_t behind = shape.stages - stage - 1;  // stages
  switch (schedule) {
    case Schedule::GPipe:
      return shape.microbatches;
    case Schedule::Interleaved:
      return 2 * behind + (shape.chunks - 1) * shape.stages;
    case Schedule::OneF1B:
    case Schedule::Async:
      break;
  }
  return behind;
}

}  // namespace

const char* nameOf(Schedule schedule) noexcept {
  return kNames[static_cast<std::size_t>(schedule)];
}

std::optional<Schedule> scheduleNamed(std::string_view name) noexcept {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    return std::nullopt;
  return static_cast<Schedule>(found - kNames.begin());
}

Result<std::vector<Order>> ordersOf(Schedule schedule,
                                    const Shape& shape,
                                    std::int64_t iterations) {
  SONDE_TRY(check(schedule, shape));
  std::vector<Order> orders;
  for (std::int64_t stage = 0; stage < shape.stages; ++stage)
    orders.push_back(OrderMaker(shape, iterations)
                         .make(aheadOf(schedule, shape, stage), schedule != Schedule::Async));
  return orders;
}

std::int64_t mostInFlight(const Order& order) {
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const Turn& turn : order) {
    now += turn.isForward ? 1 : -1;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace sonde::engine::pipeline
