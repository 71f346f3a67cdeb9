#include "collector/preload/nvtx/nvtx_events.h"

#include "collector/core/emit.h"
#include "collector/preload/common/interned_key.h"
#include "collector/wire/iteration_keys.h"

#include <atomic>

namespace sonde::preload::nvtx {
namespace {

using wire::LossReason;
using wire::Probe;
using wire::RecordKind;
using wire::SliceKind;

constexpr nvtxRangeId_t kOwn = nvtxRangeId_t{1} << 63;
constexpr nvtxRangeId_t kUnseen = nvtxRangeId_t{1} << 62;  // the trace has no begin of the range
std::atomic<nvtxRangeId_t> gNextRange{1};

bool hasDetails(Domain domain, const nvtxEventAttributes_t* attributes) noexcept {
  return domain != 0 || attributes != nullptr;
}

}  // namespace

bool recording() noexcept {
  return core::enabled(Probe::Nvtx);
}

int push(Domain domain, Name name, const nvtxEventAttributes_t* attributes) noexcept {
  const int level = static_cast<int>(core::openScopes(Probe::Nvtx, domain));
  const std::uint32_t token = core::beginScope(name.kind, name.id, Probe::Nvtx, domain);
  if (token == 0)
    return NVTX_NO_PUSH_POP_TRACKING;
  if (name.number >= 0) {
    static InternedKey key{SONDE_ITERATION_NUMBER};
    core::emitArgInt({token}, key(), name.number);
  }
  if (hasDetails(domain, attributes))
    emitDetails({token}, domain, attributes);
  return level;
}

int skipPush(Domain domain) noexcept {
  core::skipScope(Probe::Nvtx, domain);
  return NVTX_NO_PUSH_POP_TRACKING;
}

int pop(Domain domain) noexcept {
  if (!core::endInnermost(Probe::Nvtx, domain)) {
    if (recording())
      core::countLoss(Probe::Nvtx, RecordKind::ScopeEnd, LossReason::Unbalanced);
    return NVTX_NO_PUSH_POP_TRACKING;
  }
  return static_cast<int>(core::openScopes(Probe::Nvtx, domain));
}

nvtxRangeId_t start(nvtxRangeId_t id,
                    Domain domain,
                    Name name,
                    const nvtxEventAttributes_t* attributes) noexcept {
  if (id == 0)
    id = kOwn | gNextRange.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t record = core::emitRangeBegin(SliceKind::Range, name.id, Probe::Nvtx, id);
  if (record != 0 && hasDetails(domain, attributes))
    emitDetails({.record = record}, domain, attributes);
  return record == 0 && isOwnId(id) ? id | kUnseen : id;
}

// If another tool numbered the range, its end may come without a begin.
void end(nvtxRangeId_t id) noexcept {
  const bool isUnseen = isOwnId(id) && (id & kUnseen) != 0;
  if (recording() && id != 0 && !isUnseen)
    core::emitRangeEnd(id);
}

bool isOwnId(nvtxRangeId_t id) noexcept {
  return (id & kOwn) != 0;
}

void mark(Domain domain, Name name, const nvtxEventAttributes_t* attributes) noexcept {
  const std::uint64_t record = core::emitMark(name.id, Probe::Nvtx);
  if (record != 0 && hasDetails(domain, attributes))
    emitDetails({.record = record}, domain, attributes);
}

void beginWait(Name name) noexcept {
  if (recording())
    core::beginScope(SliceKind::Wait, name.id, Probe::Nvtx, kWaitGroup);
  else
    core::skipScope(Probe::Nvtx, kWaitGroup);
}

void endWait() noexcept {
  core::endInnermost(Probe::Nvtx, kWaitGroup);
}

}  // namespace sonde::preload::nvtx
