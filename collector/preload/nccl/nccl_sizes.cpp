#include "collector/preload/nccl/nccl_sizes.h"

#include "collector/wire/records.h"

namespace sonde::preload::nccl {

using wire::CollectiveOp;

namespace {

// `bytes`: count times the size of an element. `all`: the sum over all ranks.
Sizes sizesOf(CollectiveOp op, std::uint64_t bytes, std::uint64_t all, bool isRoot) noexcept {
  switch (op) {
    case CollectiveOp::Broadcast:
      return {bytes, isRoot ? bytes : 0, bytes};
    case CollectiveOp::Reduce:
      return {bytes, bytes, isRoot ? bytes : 0};
    case CollectiveOp::Allgather:
      return {all, bytes, all};
    case CollectiveOp::ReduceScatter:
      return {all, all, bytes};
    case CollectiveOp::Alltoall:
      return {all, all, all};
    case CollectiveOp::Gather:
      return {all, bytes, isRoot ? all : 0};
    case CollectiveOp::Scatter:
      return {all, isRoot ? all : 0, bytes};
    case CollectiveOp::Send:
      return {bytes, bytes, 0};
    case CollectiveOp::Receive:
      return {bytes, 0, bytes};
    default:
      return {bytes, bytes, bytes};
  }
}

}  // namespace

Sizes sizesOf(const Communicator& communicator, const CallFacts& facts) noexcept {
  constexpr std::uint64_t kUnknown = wire::Collective::kUnknownBytes;
  if (facts.element.bytes == 0)
    return {kUnknown, kUnknown, kUnknown};
  const std::uint64_t bytes = facts.count * facts.element.bytes;
  const std::int32_t size = communicator.size.load(std::memory_order_relaxed);
  const CollectiveOp op = facts.function->op;
  const bool trafficIsAll = op == CollectiveOp::Allgather || op == CollectiveOp::ReduceScatter;
  std::uint64_t all = kUnknown;
  if (size > 0)
    all = bytes * static_cast<std::uint64_t>(size);
  else if (trafficIsAll && facts.trafficBytes > 0)
    all = facts.trafficBytes;
  return sizesOf(op, bytes, all, communicator.rank.load(std::memory_order_relaxed) == facts.root);
}

}  // namespace sonde::preload::nccl
