// The types of operations in an operation-level trace: one span for each forward, backward, send,
// receive and so on, as jobs with pipeline and data parallelism record them (StragglerAnalysis,
// OSDI'25). Free functions; any thread.
#pragma once

#include "analysis/model/words.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::model {

enum class OperationType : std::uint8_t {
  Forward,
  Backward,
  ForwardSend,
  ForwardReceive,
  BackwardSend,
  BackwardReceive,
  ParamsAllGather,
  GradsReduceScatter,
  LayernormAllReduce,
  EmbeddingAllReduce,
  GarbageCollection,
  Clip,
  Optimizer,
};
constexpr std::size_t kOperationTypes = 13;

// The name of the type in traces ("forward-compute"); empty if it is not an enumerator.
std::string_view word(OperationType type) noexcept;
std::optional<OperationType> operationTypeOf(std::string_view word) noexcept;

// Whether it moves data between workers. The clipping of gradients does: it adds up their norms.
bool isCommunication(OperationType type) noexcept;

// The slice kind of such an operation: `collective` for everything that communicates, except the
// clipping of gradients, which is `optimizer`.
SliceKind sliceKindOf(OperationType type) noexcept;

}  // namespace sonde::model
