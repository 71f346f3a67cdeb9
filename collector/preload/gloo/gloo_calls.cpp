// Intercepts the collectives of libgloo. Only this object includes libgloo's headers. It is
// compiled with exceptions because they need them, and only reads fields. Each function below is
// the one that the header declares, so it is a friend of its options, and a caller's reference
// binds to it. Exceptions of libgloo pass through: there is no try block, no guard and nothing to
// destroy around a forwarded call. A call that throws leaves no record.
//
// If the process's Gloo is not the one of the headers, each function's first call proves its
// options' layout (see gloo_layout.h). Only then may later calls read their fields.
#include <ostream>
// gloo/types.h includes <iostream> for a declaration, which would add a static object of libstdc++.
#define _GLIBCXX_IOSTREAM 1  // NOLINT(readability-identifier-naming)
#include "collector/core/emit.h"
#include "collector/core/open_calls.h"
#include "collector/preload/common/interned_key.h"
#include "collector/preload/gloo/gloo_contexts.h"
#include "collector/preload/gloo/gloo_layout.h"
#include "collector/preload/gloo/gloo_library.h"

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
using sonde::preload::gloo::Caller;
using sonde::preload::gloo::findCaller;
using sonde::preload::gloo::Layout;
using sonde::preload::gloo::RealGloo;
using sonde::wire::CollectiveOp;
namespace core = sonde::core;
using Buffer = std::unique_ptr<transport::UnboundBuffer>;
using Buffers = std::vector<Buffer>;

// The data that one call moves; `bytes` is nccl-tests' size, the same on every rank.
struct Amounts {
  std::uint64_t bytes;
  std::uint64_t send;
  std::uint64_t receive;
};

// Empty if the call is not recorded.
struct Pending {
  sonde::wire::Collective record;
  bool active;
  core::OpenCall open;
};

// Checks that fields have the expected values, without trusting that their pointers are valid.
class Proof {
 public:
  explicit Proof(const void* function) noexcept : function_(function) {}

  bool buffer(const Buffer& buffer) const noexcept {
    std::uint64_t size = 0;
    return sonde::preload::gloo::isBuffer(buffer.get(), function_, size);
  }
  bool buffer(const Buffer& buffer, std::uint64_t expected) const noexcept {
    std::uint64_t size = 0;
    return sonde::preload::gloo::isBuffer(buffer.get(), function_, size) && size == expected;
  }
  // Either may be absent; the other then serves both purposes.
  bool buffer(const Buffer& first, const Buffer& second, std::uint64_t expected) const noexcept {
    return buffer(first != nullptr ? first : second, expected);
  }
  bool buffer(const Buffers& buffers, std::uint64_t expected) const noexcept {
    const void* first = nullptr;
    std::uint64_t size = 0;
    return sonde::preload::gloo::copySafely(&first, buffers.data(), sizeof first) &&
           sonde::preload::gloo::isBuffer(first, function_, size) && size == expected;
  }
  // One length per member; their sum is the buffer's length.
  bool lengths(const std::vector<std::size_t>& lengths,
               int members,
               std::size_t elementSize,
               const Buffer& filled) const noexcept {
    if (lengths.size() != static_cast<std::size_t>(members))
      return false;
    std::uint64_t bytes = 0;
    for (const std::size_t& at : lengths) {
      std::size_t length = 0;
      if (!sonde::preload::gloo::copySafely(&length, &at, sizeof length))
        return false;
      bytes += length * elementSize;
    }
    return buffer(filled, bytes);
  }

 private:
  const void* function_;
};

// Which member of which group calls. `context` is nullptr if the call is not to be recorded or the
// fields of its options may not be read. `proved` is called only once the options are known to be
// readable memory.
template <typename Function, typename Options, typename Proved>
Caller callerOf(RealGloo<Function>& real,
                const Options& opts,
                const std::shared_ptr<Context>& context,
                Proved proved) noexcept {
  const void* function = real.address();
  if (!core::isSource(sonde::wire::Probe::Gloo))
    return {};
  Layout layout = real.layout().load(std::memory_order_relaxed);
  if (layout == Layout::Unasked)
    layout = sonde::preload::gloo::layoutOf(function);
  if (layout == Layout::ToBeProved) {
    unsigned char bytes[sizeof(Options)];
    const bool readable = sonde::preload::gloo::copySafely(bytes, &opts, sizeof bytes);
    const Caller caller = readable ? findCaller(context.get()) : Caller{};
    const bool sound = caller.context != nullptr && proved(Proof(function), caller);
    layout = sound ? Layout::Known : Layout::Unknown;
    if (!sound)
      sonde::preload::gloo::sayLayoutUnknown();
  }
  real.layout().store(layout, std::memory_order_relaxed);
  if (layout != Layout::Known)
    return {};
  const Caller caller = findCaller(context.get());
  if (caller.context == nullptr)
    core::countLoss(sonde::wire::Probe::Gloo,
                    sonde::wire::RecordKind::Collective,
                    sonde::wire::LossReason::Definitions);
  return caller;
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

// `caller` is in the frame of the function that the program calls; see open_calls.h. (With
// __builtin_frame_address, g++ 12 asks for a personality routine, so for the C++ runtime.)
Pending begin(CollectiveOp op,
              InternedKey& name,
              const Caller& caller,
              std::uint32_t tag,
              int root,
              const Amounts& amounts) noexcept {
  Pending pending{};
  sonde::wire::Collective& record = pending.record;
  record.header.detail = static_cast<std::uint8_t>(op);
  record.header.subject = sonde::preload::gloo::communicatorOf(caller.context);
  record.seq = sonde::preload::gloo::nextSequence(caller.context, tag);
  record.bytes = amounts.bytes;
  record.sendBytes = amounts.send;
  record.recvBytes = amounts.receive;
  record.root = root;
  record.peer = -1;
  record.name = name();
  record.probe = sonde::wire::Probe::Gloo;
  record.beginTicks = core::ticks();
  pending.active = core::admits(sonde::wire::Probe::Gloo);
  if (pending.active && record.header.subject != 0)
    pending.open = core::openCall(record, sonde::wire::RecordKind::Collective, &caller);
  return pending;
}

void end(Pending& pending) noexcept {
  if (!pending.active)
    return;
  core::closeCall(pending.open);
  pending.record.endTicks = core::ticks();
  if (pending.record.header.subject == 0)
    core::countLoss(sonde::wire::Probe::Gloo,
                    sonde::wire::RecordKind::Collective,
                    sonde::wire::LossReason::Definitions);
  else
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
  const Caller caller =
      callerOf(real, opts, opts.impl_.context, [&](const Proof& proof, const Caller&) {
        const auto& call = opts.impl_;
        return proof.buffer(call.out.empty() ? call.in : call.out,
                            call.elements * call.elementSize);
      });
  if (caller.context != nullptr) {
    const detail::AllreduceOptionsImpl& call = opts.impl_;
    const std::uint64_t bytes = call.elements * call.elementSize;
    pending = begin(CollectiveOp::Allreduce, name, caller, call.tag, -1, {bytes, bytes, bytes});
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
  const Caller caller = callerOf(real, opts, opts.context, [&](const Proof& proof, const Caller&) {
    return proof.buffer(opts.out);
  });
  if (caller.context != nullptr) {
    const std::uint64_t out = sizeOf(opts.out);
    const auto members = static_cast<std::uint64_t>(caller.size);
    const std::uint64_t in = opts.in != nullptr ? sizeOf(opts.in) : out / members;
    pending = begin(CollectiveOp::Allgather, name, caller, opts.tag, -1, {out, in, out});
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void allgatherv(AllgathervOptions& opts) {
  static RealGloo<void (*)(AllgathervOptions&)> real{
      "_ZN4gloo10allgathervERNS_17AllgathervOptionsE"};
  static InternedKey name{"gloo:all_gather_v"};
  Pending pending{};
  const Caller caller =
      callerOf(real, opts, opts.context, [&](const Proof& proof, const Caller& self) {
        return proof.lengths(opts.elements, self.size, opts.elementSize, opts.out);
      });
  if (caller.context != nullptr) {
    const std::uint64_t out = sumOf(opts.elements) * opts.elementSize;
    const auto rank = static_cast<std::size_t>(caller.rank);
    const std::uint64_t in =
        rank < opts.elements.size() ? opts.elements[rank] * opts.elementSize : 0;
    pending = begin(CollectiveOp::Allgather, name, caller, opts.tag, -1, {out, in, out});
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void alltoall(AlltoallOptions& opts) {
  static RealGloo<void (*)(AlltoallOptions&)> real{"_ZN4gloo8alltoallERNS_15AlltoallOptionsE"};
  static InternedKey name{"gloo:all_to_all"};
  Pending pending{};
  const Caller caller = callerOf(real, opts, opts.context, [&](const Proof& proof, const Caller&) {
    return proof.buffer(opts.in) && proof.buffer(opts.out);
  });
  if (caller.context != nullptr) {
    const std::uint64_t bytes = sizeOf(opts.in);
    pending =
        begin(CollectiveOp::Alltoall, name, caller, opts.tag, -1, {bytes, bytes, sizeOf(opts.out)});
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void alltoallv(AlltoallvOptions& opts) {
  static RealGloo<void (*)(AlltoallvOptions&)> real{"_ZN4gloo9alltoallvERNS_16AlltoallvOptionsE"};
  static InternedKey name{"gloo:all_to_all_v"};
  Pending pending{};
  const Caller caller =
      callerOf(real, opts, opts.context, [&](const Proof& proof, const Caller& self) {
        return proof.lengths(opts.inLengthPerRank, self.size, 1, opts.in) &&
               proof.lengths(opts.outLengthPerRank, self.size, 1, opts.out);
      });
  if (caller.context != nullptr) {
    const std::uint64_t in = sumOf(opts.inLengthPerRank);
    const std::uint64_t out = sumOf(opts.outLengthPerRank);
    const Amounts amounts{in > out ? in : out, in, out};
    pending = begin(CollectiveOp::Alltoall, name, caller, opts.tag, -1, amounts);
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void barrier(BarrierOptions& opts) {
  static RealGloo<void (*)(BarrierOptions&)> real{"_ZN4gloo7barrierERNS_14BarrierOptionsE"};
  static InternedKey name{"gloo:barrier"};
  Pending pending{};
  const Caller caller =
      callerOf(real, opts, opts.context, [&](const Proof&, const Caller&) { return true; });
  if (caller.context != nullptr)
    pending = begin(CollectiveOp::Barrier, name, caller, opts.tag, -1, {0, 0, 0});
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void broadcast(BroadcastOptions& opts) {
  static RealGloo<void (*)(BroadcastOptions&)> real{"_ZN4gloo9broadcastERNS_16BroadcastOptionsE"};
  static InternedKey name{"gloo:broadcast"};
  Pending pending{};
  const Caller caller = callerOf(real, opts, opts.context, [&](const Proof& proof, const Caller&) {
    return proof.buffer(opts.out, opts.in, opts.elements * opts.elementSize);
  });
  if (caller.context != nullptr) {
    const std::uint64_t bytes = opts.elements * opts.elementSize;
    const bool root = caller.rank == opts.root;
    const Amounts amounts{bytes, root ? bytes : 0, root ? 0 : bytes};
    pending = begin(CollectiveOp::Broadcast, name, caller, opts.tag, opts.root, amounts);
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void gather(GatherOptions& opts) {
  static RealGloo<void (*)(GatherOptions&)> real{"_ZN4gloo6gatherERNS_13GatherOptionsE"};
  static InternedKey name{"gloo:gather"};
  Pending pending{};
  const Caller caller = callerOf(real, opts, opts.context, [&](const Proof& proof, const Caller&) {
    return proof.buffer(opts.in);
  });
  if (caller.context != nullptr) {
    const std::uint64_t in = sizeOf(opts.in);
    const std::uint64_t all = in * static_cast<std::uint64_t>(caller.size);
    const Amounts amounts{all, in, caller.rank == opts.root ? all : 0};
    pending = begin(CollectiveOp::Gather, name, caller, opts.tag, opts.root, amounts);
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void reduce(ReduceOptions& opts) {
  static RealGloo<void (*)(ReduceOptions&)> real{"_ZN4gloo6reduceERNS_13ReduceOptionsE"};
  static InternedKey name{"gloo:reduce"};
  Pending pending{};
  const Caller caller = callerOf(real, opts, opts.context, [&](const Proof& proof, const Caller&) {
    return proof.buffer(opts.out, opts.in, opts.elements * opts.elementSize);
  });
  if (caller.context != nullptr) {
    const std::uint64_t bytes = opts.elements * opts.elementSize;
    const Amounts amounts{bytes, bytes, caller.rank == opts.root ? bytes : 0};
    pending = begin(CollectiveOp::Reduce, name, caller, opts.tag, opts.root, amounts);
  }
  real()(opts);
  end(pending);
}

SONDE_GLOO_EXPORT void scatter(ScatterOptions& opts) {
  static RealGloo<void (*)(ScatterOptions&)> real{"_ZN4gloo7scatterERNS_14ScatterOptionsE"};
  static InternedKey name{"gloo:scatter"};
  Pending pending{};
  const Caller caller = callerOf(real, opts, opts.context, [&](const Proof& proof, const Caller&) {
    return proof.buffer(opts.out);
  });
  if (caller.context != nullptr) {
    const std::uint64_t out = sizeOf(opts.out);
    const std::uint64_t all = out * static_cast<std::uint64_t>(caller.size);
    const Amounts amounts{all, caller.rank == opts.root ? all : 0, out};
    pending = begin(CollectiveOp::Scatter, name, caller, opts.tag, opts.root, amounts);
  }
  real()(opts);
  end(pending);
}

}  // namespace gloo
