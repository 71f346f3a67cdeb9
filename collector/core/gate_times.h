// The state of this process's gates at a past time, for records of CUDA, which come late. The gates
// are that of capture.h and that of the probe `cuda` (calibration.h). Keeps the stretches that were
// used last. The owner of an instance holds a lock.
#pragma once

#include "collector/core/calibration.h"
#include "collector/core/capture.h"
#include "collector/core/spool.h"
#include "collector/wire/gate_history.h"

#include <cstdint>

namespace sonde::core {

class GateTimes {
 public:
  constexpr GateTimes() noexcept = default;

  // Whether events at that time are recorded in full. Also true for times that the histories no
  // longer reach.
  bool wereOpen(std::uint64_t ticks) noexcept {
    const wire::ControlPage& control = *gSpool.control;
    return capture_.at(control.capture, gCaptureChanges, ticks).isOpen &&
           recording_.at(control.recording, control.recordings, ticks).isOpen &&
           cuda_.at(gCudaGate, gCudaChanges, ticks).isOpen;
  }

  enum class Was : std::uint8_t { Open, Closed, Both };
  // The state of the gates throughout `from` to `until`.
  Was between(std::uint64_t from, std::uint64_t until) noexcept {
    const wire::ControlPage& control = *gSpool.control;
    const wire::GateStretch& capture = capture_.at(control.capture, gCaptureChanges, until);
    const wire::GateStretch& recording =
        recording_.at(control.recording, control.recordings, until);
    const wire::GateStretch& cuda = cuda_.at(gCudaGate, gCudaChanges, until);
    const auto stayed = [from](const wire::GateStretch& stretch) noexcept {
      return stretch.from <= from && stretch.until != stretch.from;
    };
    if ((!capture.isOpen && stayed(capture)) || (!recording.isOpen && stayed(recording)) ||
        (!cuda.isOpen && stayed(cuda)))
      return Was::Closed;
    const bool isOpen = capture.isOpen && recording.isOpen && cuda.isOpen;
    return isOpen && stayed(capture) && stayed(recording) && stayed(cuda) ? Was::Open : Was::Both;
  }

 private:
  struct Gate {
    std::uint64_t word = 0;
    wire::GateStretch stretch;  // the stretch returned last, while the gate was `word`

    template <std::uint32_t kPlaces>
    const wire::GateStretch& at(const wire::Gate& gate,
                                const wire::GateHistory<kPlaces>& history,
                                std::uint64_t ticks) noexcept {
      const std::uint64_t now = gate.load(std::memory_order_acquire);
      if (__builtin_expect(now != word || !stretch.holds(ticks), 0)) {
        word = now;
        stretch = wire::stretchAt(history, now, ticks);
      }
      return stretch;
    }
  };

  Gate capture_;
  Gate recording_;
  Gate cuda_;
};

}  // namespace sonde::core
