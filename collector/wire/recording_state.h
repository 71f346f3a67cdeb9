// Whether the processes of a recording record: what SessionPage::recording holds.
// The gate ControlPage::recording of an image follows it.
#pragma once

#include "collector/wire/gate.h"

#include <cstdint>

namespace sonde::wire {

enum class RecordingState : std::uint32_t {
  Off = 0,  // for good: process images that begin make no spool file
  On = 1,
  Paused = 2,  // until it goes on: images that begin make one, and record in outline
};

constexpr std::uint32_t gateMaskOf(RecordingState state) noexcept {
  if (state == RecordingState::Off)
    return 0;
  return state == RecordingState::On ? kGateOpen : kGateOutline;
}

}  // namespace sonde::wire
