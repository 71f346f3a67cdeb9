// The collectives of libgloo. This object alone includes libgloo's headers and is compiled with
// exceptions, which they need; it only reads fields. Each function below is the one that the header
// declares, so it is a friend of its options, and so a caller's reference binds to it. What libgloo
// throws passes through: there is no try block, no guard and nothing to destroy around a forwarded
// call. A call that throws leaves no record.
#include <ostream>
// gloo/types.h wants <iostream> for a declaration, which would bring a static object of libstdc++
// with it.
#define _GLIBCXX_IOSTREAM 1
#include "collector/core/emit.h"
#include "collector/preload/probes/gloo_contexts.h"
#include "collector/preload/probes/gloo_library.h"
#include "collector/preload/probes/interned_key.h"

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <cstddef>
#include <cstdint>

#define SONDE_GLOO_EXPORT __attribute__((visibility("default")))

namespace gloo {
namespace {

using sonde::preload::InternedKey;
using sonde::preload::gloo::RealGloo;
using sonde::wire::CollectiveOp;
namespace core = sonde::core;

// What one call moves; `bytes` is nccl-tests' size, the same on every rank.
struct Amounts {
  std::uint64_t bytes;
  std::uint64_t send;
  std::uint64_t receive;
};

// Nothing when the call is not to be recorded.
struct Pending {
  sonde::wire::Collective record;
  bool active;
};

bool recording(void* realFunction) noexcept {
  return core::enabled(sonde::wire::Probe::Gloo) && sonde::preload::gloo::layoutKnown(realFunction);
}

std::uint64_t sizeOf(const std::unique_ptr<transport::UnboundBuffer>& buffer) noexcept {
  return buffer == nullptr ? 0 : buffer->size;
}

std::uint64_t sumOf(const std::vector<std::size_t>& lengths) noexcept {
  std::uint64_t sum = 0;
  for (const std::size_t length : lengths)
    sum += length;
  return sum;
}

Pending begin(CollectiveOp op,
              InternedKey& name,
              const Context& context,
              std::uint32_t tag,
              int root,
              const Amounts& amounts) noexcept {
  Pending pending{};
  auto* known = sonde::preload::gloo::findContext(&context, context.rank, context.size);
  if (known == nullptr)
    return pending;
  sonde::wire::Collective& record = pending.record;
  record.header.detail = static_cast<std::uint8_t>(op);
  record.header.subject = sonde::preload::gloo::communicatorOf(known);
  record.seq = sonde::preload::gloo::nextSequence(known, tag);
  record.bytes = amounts.bytes;
  record.sendBytes = amounts.send;
  record.recvBytes = amounts.receive;
  record.root = root;
  record.peer = -1;
  record.name = name();
  record.probe = sonde::wire::Probe::Gloo;
  record.beginTicks = core::ticks();
  pending.active = true;
  return pending;
}

void end(Pending& pending) noexcept {
  if (!pending.active)
    return;
  pending.record.endTicks = core::ticks();
  core::emitCollective(pending.record);
}

}  // namespace

SONDE_GLOO_EXPORT void allreduce(const AllreduceOptions& opts) {
  static RealGloo<void (*)(const AllreduceOptions&)> real{
      "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"};
  static InternedKey name{"gloo:all_reduce"};
  static InternedKey ring{"ring"};
  static InternedKey bcube{"bcube"};
  Pending pending{};
  if (recording(real.address())) {
    const detail::AllreduceOptionsImpl& call = opts.impl_;
    const std::uint64_t bytes = call.elements * call.elementSize;
    pending =
        begin(CollectiveOp::Allreduce, name, *call.context, call.tag, -1, {bytes, bytes, bytes});
    pending.record.algorithm =
        call.algorithm == detail::AllreduceOptionsImpl::BCUBE ? bcube() : ring();
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void allgather(AllgatherOptions& opts) {
  static RealGloo<void (*)(AllgatherOptions&)> real{"_ZN4gloo9allgatherERNS_16AllgatherOptionsE"};
  static InternedKey name{"gloo:all_gather"};
  Pending pending{};
  if (recording(real.address())) {
    const std::uint64_t out = sizeOf(opts.out);
    const auto members = static_cast<std::uint64_t>(opts.context->size);
    const std::uint64_t in = opts.in != nullptr ? sizeOf(opts.in) : out / members;
    pending = begin(CollectiveOp::Allgather, name, *opts.context, opts.tag, -1, {out, in, out});
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void allgatherv(AllgathervOptions& opts) {
  static RealGloo<void (*)(AllgathervOptions&)> real{
      "_ZN4gloo10allgathervERNS_17AllgathervOptionsE"};
  static InternedKey name{"gloo:all_gather_v"};
  Pending pending{};
  if (recording(real.address())) {
    const std::uint64_t out = sumOf(opts.elements) * opts.elementSize;
    const auto rank = static_cast<std::size_t>(opts.context->rank);
    const std::uint64_t in =
        rank < opts.elements.size() ? opts.elements[rank] * opts.elementSize : 0;
    pending = begin(CollectiveOp::Allgather, name, *opts.context, opts.tag, -1, {out, in, out});
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void alltoall(AlltoallOptions& opts) {
  static RealGloo<void (*)(AlltoallOptions&)> real{"_ZN4gloo8alltoallERNS_15AlltoallOptionsE"};
  static InternedKey name{"gloo:all_to_all"};
  Pending pending{};
  if (recording(real.address())) {
    const std::uint64_t bytes = sizeOf(opts.in);
    pending = begin(CollectiveOp::Alltoall,
                    name,
                    *opts.context,
                    opts.tag,
                    -1,
                    {bytes, bytes, sizeOf(opts.out)});
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void alltoallv(AlltoallvOptions& opts) {
  static RealGloo<void (*)(AlltoallvOptions&)> real{"_ZN4gloo9alltoallvERNS_16AlltoallvOptionsE"};
  static InternedKey name{"gloo:all_to_all_v"};
  Pending pending{};
  if (recording(real.address())) {
    const std::uint64_t in = sumOf(opts.inLengthPerRank);
    const std::uint64_t out = sumOf(opts.outLengthPerRank);
    const Amounts amounts{in > out ? in : out, in, out};
    pending = begin(CollectiveOp::Alltoall, name, *opts.context, opts.tag, -1, amounts);
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void barrier(BarrierOptions& opts) {
  static RealGloo<void (*)(BarrierOptions&)> real{"_ZN4gloo7barrierERNS_14BarrierOptionsE"};
  static InternedKey name{"gloo:barrier"};
  Pending pending{};
  if (recording(real.address()))
    pending = begin(CollectiveOp::Barrier, name, *opts.context, opts.tag, -1, {0, 0, 0});
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void broadcast(BroadcastOptions& opts) {
  static RealGloo<void (*)(BroadcastOptions&)> real{"_ZN4gloo9broadcastERNS_16BroadcastOptionsE"};
  static InternedKey name{"gloo:broadcast"};
  Pending pending{};
  if (recording(real.address())) {
    const std::uint64_t bytes = opts.elements * opts.elementSize;
    const bool root = opts.context->rank == opts.root;
    const Amounts amounts{bytes, root ? bytes : 0, root ? 0 : bytes};
    pending = begin(CollectiveOp::Broadcast, name, *opts.context, opts.tag, opts.root, amounts);
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void gather(GatherOptions& opts) {
  static RealGloo<void (*)(GatherOptions&)> real{"_ZN4gloo6gatherERNS_13GatherOptionsE"};
  static InternedKey name{"gloo:gather"};
  Pending pending{};
  if (recording(real.address())) {
    const std::uint64_t in = sizeOf(opts.in);
    const std::uint64_t all = in * static_cast<std::uint64_t>(opts.context->size);
    const Amounts amounts{all, in, opts.context->rank == opts.root ? all : 0};
    pending = begin(CollectiveOp::Gather, name, *opts.context, opts.tag, opts.root, amounts);
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void reduce(ReduceOptions& opts) {
  static RealGloo<void (*)(ReduceOptions&)> real{"_ZN4gloo6reduceERNS_13ReduceOptionsE"};
  static InternedKey name{"gloo:reduce"};
  Pending pending{};
  if (recording(real.address())) {
    const std::uint64_t bytes = opts.elements * opts.elementSize;
    const Amounts amounts{bytes, bytes, opts.context->rank == opts.root ? bytes : 0};
    pending = begin(CollectiveOp::Reduce, name, *opts.context, opts.tag, opts.root, amounts);
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void scatter(ScatterOptions& opts) {
  static RealGloo<void (*)(ScatterOptions&)> real{"_ZN4gloo7scatterERNS_14ScatterOptionsE"};
  static InternedKey name{"gloo:scatter"};
  Pending pending{};
  if (recording(real.address())) {
    const std::uint64_t out = sizeOf(opts.out);
    const std::uint64_t all = out * static_cast<std::uint64_t>(opts.context->size);
    const Amounts amounts{all, opts.context->rank == opts.root ? all : 0, out};
    pending = begin(CollectiveOp::Scatter, name, *opts.context, opts.tag, opts.root, amounts);
  }
  real()(opts);
  end(pending);
}

}  // namespace gloo
