// Each cause of a critical path has one colour in all pictures. Plain values.
#pragma once

#include "analysis/engine/critical/path_cause.h"

#include <array>

namespace sonde::engine::critical {

// Those of Okabe and Ito, and three more.
inline constexpr std::array<const char*, kPathCauses> kCauseColours = {
    "#0072b2",   // host
    "#e69f00",   // loader
    "#f0e442",   // io
    "#56b4e9",   // wait
    "#009e73",   // device
    "#cc79a7",   // copy
    "#d55e00",   // transfer
    "#332288",   // launch
    "#661100",   // wake_up
    "#999999"};  // gap

}  // namespace sonde::engine::critical
