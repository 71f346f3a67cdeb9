// What libsonde_mpi.so, which stands in front of MPI's functions and knows what they mean, asks of
// libsonde_preload.so, which records. Both are of one build: the first finds the second's table by
// dlsym("sonde_mpi_hooks") when it is loaded, and a table of another version is none. Any thread;
// no hook locks, allocates, fails or changes errno.
#pragma once

#include "collector/core/platform/clock.h"
#include "collector/wire/records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::mpi {

inline constexpr std::uint32_t kHooksVersion = 3;

// What an interval of the calling thread is recorded as.
struct Interval {
  std::uint64_t beginTicks;
  std::uint64_t endTicks;
};

// Names a call that the recorder is shown while it lasts.
using OpenCall = std::uint32_t;
inline constexpr OpenCall kNotShown = ~OpenCall{0};

struct Hooks {
  std::uint32_t version;
  const core::ClockChoice* clock;
  std::uint64_t (*ticks)() noexcept;  // where the clock is not the TSC
  // Whether the run was asked for the probe at all. Not before the program's own code runs.
  bool (*isSource)() noexcept;
  // Whether it records now. The others below may be called all the same: they then do
  // nothing.
  bool (*enabled)() noexcept;
  std::uint32_t (*intern)(const char* text) noexcept;
  // 0: it could not be defined.
  std::uint32_t (*defineChannel)(const char* local, const char* remote) noexcept;
  std::uint32_t (*defineCommunicator)(const char* key,
                                      const std::int32_t* ranks,
                                      std::int32_t size,
                                      std::int32_t position) noexcept;
  void (*message)(const wire::Message& record) noexcept;
  void (*messages)(const wire::Message& sent, const wire::Message& received) noexcept;
  void (*call)(wire::SliceKind kind, std::uint32_t name, Interval interval) noexcept;
  // Whether it was recorded: then its end is, too.
  bool (*collective)(const wire::Collective& record) noexcept;
  void (*collectiveEnd)(std::uint64_t number, std::uint64_t ticks) noexcept;
  // The calling thread is about to make a call that may wait: its record, as far as it is known,
  // with an end of 0. `frame`: as in core/open_calls.h. returned(): it has.
  OpenCall (*sends)(const wire::Message& record, const void* frame) noexcept;  // or receives
  OpenCall (*joins)(const wire::Collective& record, const void* frame) noexcept;
  OpenCall (*waits)(wire::SliceKind kind,
                    std::uint32_t name,
                    std::uint64_t beginTicks,
                    const void* frame) noexcept;
  void (*returned)(OpenCall call) noexcept;
  void (*lose)(wire::RecordKind kind, wire::LossReason reason, std::uint32_t count) noexcept;
  // The MPI that calls itself so is none that Sonde knows.
  void (*unknown)(const char* version) noexcept;
};

using FindHooks = const Hooks* (*)(std::uint32_t version);

}  // namespace sonde::preload::mpi
