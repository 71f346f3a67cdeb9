// The functions of libsonde_preload.so, which records, for libsonde_mpi.so, which intercepts MPI's
// functions. Both are from one build. When libsonde_mpi.so is loaded, it looks up the table with
// dlsym("sonde_mpi_hooks") and ignores a table of another version. Any thread; no hook locks,
// allocates, fails or changes errno.
#pragma once

#include "collector/core/platform/clock.h"
#include "collector/wire/records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::mpi {

inline constexpr std::uint32_t kHooksVersion = 3;

// The begin and end of an interval of the calling thread.
struct Interval {
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
};

// Identifies a call that is shown to the recorder while it lasts.
using OpenCall = std::uint32_t;
inline constexpr OpenCall kNotShown = ~OpenCall{0};

struct Hooks {
  std::uint32_t version;
  const core::ClockChoice* clock;
  std::uint64_t (*ticks)() noexcept;  // for clocks other than the TSC
  // Whether the run requested the probe. Not valid before the program's own code runs.
  bool (*isSource)() noexcept;
  // Whether it records now. If not, the functions below may still be called and do nothing.
  bool (*enabled)() noexcept;
  std::uint32_t (*intern)(const char* text) noexcept;
  // 0: the channel could not be defined.
  std::uint32_t (*defineChannel)(const char* local, const char* remote) noexcept;
  std::uint32_t (*defineCommunicator)(const char* key,
                                      const std::int32_t* ranks,
                                      std::int32_t size,
                                      std::int32_t position) noexcept;
  void (*message)(const wire::Message& record) noexcept;
  void (*messages)(const wire::Message& sent, const wire::Message& received) noexcept;
  void (*call)(wire::SliceKind kind, std::uint32_t name, Interval interval) noexcept;
  // Whether it was recorded; if so, its end is recorded too.
  bool (*collective)(const wire::Collective& record) noexcept;
  void (*collectiveEnd)(std::uint64_t number, std::uint64_t ticks) noexcept;
  // The calling thread is about to make a call that may wait. The record is as complete as
  // possible, with an end of 0. `frame`: as in core/open_calls.h. Call returned() when the call has
  // returned.
  OpenCall (*sends)(const wire::Message& record, const void* frame) noexcept;  // or receives
  OpenCall (*joins)(const wire::Collective& record, const void* frame) noexcept;
  OpenCall (*waits)(wire::SliceKind kind,
                    std::uint32_t name,
                    std::uint64_t beginTicks,
                    const void* frame) noexcept;
  void (*returned)(OpenCall call) noexcept;
  void (*lose)(wire::RecordKind kind, wire::LossReason reason, std::uint32_t count) noexcept;
  // Reports an MPI that Sonde does not support, by its version text.
  void (*unknown)(const char* version) noexcept;
};

using FindHooks = const Hooks* (*)(std::uint32_t version);

}  // namespace sonde::preload::mpi
