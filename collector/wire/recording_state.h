// Whether the processes of a recording record: what SessionPage::recording holds.
// ControlPage::recording of an image is 1 while it is On, else 0.
#pragma once

#include <cstdint>

namespace sonde::wire {

enum class RecordingState : std::uint32_t {
  Off = 0,  // for good: process images that begin make no spool file
  On = 1,
  Paused = 2,  // until it goes on: images that begin make one, and wait
};

}  // namespace sonde::wire
