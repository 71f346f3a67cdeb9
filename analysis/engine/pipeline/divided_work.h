// How the work of a model is divided among stages. A free function; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::engine::pipeline {

// The work of each of `stages` stages, if those of `now` have their layers divided evenly among
// them. With three stages or more, work that the first or the last one has beyond those in the
// middle is no layer's, but an embedding or a loss, and stays at that end of the model. Requires:
// stages on both sides.
std::vector<double> dividedWork(const std::vector<double>& now, std::int64_t stages);

}  // namespace sonde::engine::pipeline
