// Decides which of CUPTI's records are from a time in which the gates (core/capture.h) were open;
// CUPTI delivers them much later. A call is judged by its begin, and a device's work by the call
// that launched it. CUPTI may deliver the work first, because calling threads have their own
// buffers. Such work waits here for its call. The owner of an instance holds a lock.
#pragma once

#include "collector/core/gate_times.h"
#include "collector/wire/device_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

class Launches {
 public:
  constexpr Launches() noexcept = default;

  // For a record that has its own time.
  bool isKept(std::uint64_t ticks) noexcept { return ticks == 0 || gates_.wereOpen(ticks); }

  // The same for a call. Also notes the result for the work that the call launched.
  bool isCallKept(std::uint32_t correlation, std::uint64_t beginTicks) noexcept {
    const bool kept = isKept(beginTicks);
    note(correlation, kept ? Fate::Kept : Fate::LeftOut);
    return kept;
  }

  enum class Fate : std::uint8_t { Unknown, Kept, LeftOut };
  // The fate of work that began at `beginTicks`; 0: unknown, or it never began.
  Fate fateOf(std::uint32_t correlation, std::uint64_t beginTicks) noexcept {
    if (correlation == 0)
      return isKept(beginTicks) ? Fate::Kept : Fate::LeftOut;
    const std::uint64_t call = calls_[correlation % kCalls];
    return static_cast<std::uint32_t>(call >> kFateBits) == correlation
               ? static_cast<Fate>(call & kFateMask)
           : before(beginTicks) == core::GateTimes::Was::Open ? Fate::Kept
                                                              : Fate::Unknown;
  }

  // The same if its call will not come any more. Work whose launch time is unknown is kept, unless
  // it began so long after the gates closed that it was hardly launched before.
  Fate lastFateOf(std::uint32_t correlation, std::uint64_t beginTicks) noexcept;

  // Writes the record. With Unknown, writes it only when its call turns out to be kept. Requires:
  // not LeftOut.
  template <typename Record>
  void write(const Record& record, Fate fate) noexcept {
    if (fate == Fate::Kept)
      emit(record);
    else
      wait(Waiting(record));
  }

  // A buffer has been read: judges the waiting work whose call has come.
  void settle() noexcept {
    if (waits_ > 0)
      settle(Patience::Lasts);
  }
  // No further call will come.
  void end() noexcept { settle(Patience::Ends); }

 private:
  // Room for the calls of one thread in two buffers.
  static constexpr std::size_t kCalls = std::size_t{1} << 15;
  static constexpr int kFateBits = 2;
  static constexpr std::uint64_t kFateMask = 3;
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 14;
  // The longest time that work is assumed to wait in its stream, if nothing better is known: 5 s or
  // more on time-stamp counters of up to 4 GHz, 20 s if ticks are nanoseconds.
  static constexpr std::uint64_t kLongestLag = 20'000'000'000;

  struct Waiting {
    constexpr Waiting() noexcept : kernel{} {}
    explicit Waiting(const wire::Kernel& record) noexcept
        : kind(wire::RecordKind::Kernel), kernel(record) {}
    explicit Waiting(const wire::DeviceCopy& record) noexcept
        : kind(wire::RecordKind::DeviceCopy), copy(record) {}
    explicit Waiting(const wire::DeviceSync& record) noexcept
        : kind(wire::RecordKind::DeviceSync), sync(record) {}

    wire::RecordKind kind{};
    union {
      wire::Kernel kernel;
      wire::DeviceCopy copy;
      wire::DeviceSync sync;
    };
  };
  enum class Patience : std::uint8_t { Lasts, Ends };

  static void emit(const wire::Kernel& record) noexcept;
  static void emit(const wire::DeviceCopy& record) noexcept;
  static void emit(const wire::DeviceSync& record) noexcept;
  static void emit(const Waiting& work) noexcept;

  void note(std::uint32_t correlation, Fate fate) noexcept {
    std::uint64_t& call = calls_[correlation % kCalls];
    const std::uint64_t its = std::uint64_t{correlation} << kFateBits;
    // The driver's call that the runtime makes for a call has the same correlation.
    if (call != (its | static_cast<std::uint64_t>(Fate::Kept)))
      call = its | static_cast<std::uint64_t>(fate);
  }
  core::GateTimes::Was before(std::uint64_t beginTicks) noexcept;
  static std::uint64_t beginOf(const Waiting& work) noexcept;
  static std::uint32_t correlationOf(const Waiting& work) noexcept;
  void wait(const Waiting& work) noexcept;
  void settle(Patience patience) noexcept;
  void count() noexcept;

  core::GateTimes gates_;
  // For each recent call: the correlation, and in the low bits the Fate.
  std::uint64_t calls_[kCalls] = {};
  std::size_t waits_ = 0;
  // Waiting work counted as lost, which it is if the process is killed now.
  std::size_t counted_ = 0;
  Waiting waiting_[kMostWaiting] = {};
};

}  // namespace sonde::preload::cuda
