// Whether the processes of a recording record: the value of SessionPage::recording.
// The gate ControlPage::recording of an image follows it.
#pragma once

#include "collector/wire/gate.h"

#include <cstdint>

namespace sonde::wire {

enum class RecordingState : std::uint32_t {
  Off = 0,  // permanently: new process images create no spool file
  On = 1,
  Paused = 2,  // until resumed: new images create a spool file and record in outline
};

constexpr std::uint32_t gateMaskOf(RecordingState state) noexcept {
  if (state == RecordingState::Off)
    return 0;
  return state == RecordingState::On ? kGateOpen : kGateOutline;
}

}  // namespace sonde::wire
