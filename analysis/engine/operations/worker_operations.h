// The operations of one worker in one step, by type, and those of its sends and receives that have
// a forward or backward. Plain values; any thread.
#pragma once

#include "analysis/engine/operations/operation_rows.h"

#include <array>
#include <cstdint>
#include <vector>

namespace sonde::engine::operations {

// Indices of operations in the step, by begin.
using Indices = std::vector<std::uint32_t>;

// The forwards or the backwards of a pipeline.
struct Direction {
  model::OperationType compute;
  model::OperationType send;
  model::OperationType receive;
  bool isForward;
};
inline constexpr std::array<Direction, 2> kDirections = {
    Direction{model::OperationType::Forward,
              model::OperationType::ForwardSend,
              model::OperationType::ForwardReceive,
              true},
    Direction{model::OperationType::Backward,
              model::OperationType::BackwardSend,
              model::OperationType::BackwardReceive,
              false}};

// Which chunks of the model a stage has. One, unless the pipeline is interleaved.
struct Pipeline {
  std::int64_t stages = 1;
  std::int64_t lastChunk = 0;

  bool isInterleaved() const noexcept { return lastChunk > 0; }
};

class WorkerOperations {
 public:
  void add(std::uint32_t index, model::OperationType type) {
    byType_[static_cast<std::size_t>(type)].push_back(index);
  }
  const Indices& of(model::OperationType type) const noexcept {
    return byType_[static_cast<std::size_t>(type)];
  }

  // A send or receive and the operation that makes or uses its data.
  struct Transfer {
    std::uint32_t transfer = 0;
    std::uint32_t compute = 0;
  };
  // The transfers that have a partner, in order. The n-th belongs to the n-th forward (backward)
  // that has one; if there are as many as forwards, to the n-th of all.
  std::vector<Transfer> transfersOf(const Direction& direction,
                                    bool isSend,
                                    const Step& step,
                                    std::int64_t stage,
                                    const Pipeline& pipeline) const;

 private:
  std::array<Indices, model::kOperationTypes> byType_;
};

}  // namespace sonde::engine::operations
