// The questions that others are made of: the selected work takes another time. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "analysis/engine/whatif/selector.h"

#include <cstdint>

namespace sonde::engine::whatif {

// All of it takes `factor` times as long. InvalidArgument: the factor is negative or no number.
Question scale(Selector selector, double factor);

// Each kernel, copy, collective, message and stretch of a thread takes `ns`.
Question set(Selector selector, std::int64_t ns);

// It takes no time, and neither do the calls that launch it.
Question remove(Selector selector);

}  // namespace sonde::engine::whatif
