// Many tests at once: the more of them, the likelier that one finds something where nothing is.
// Pure functions; any thread.
#pragma once

#include <vector>

namespace sonde::engine::statistics {

// Each p-value raised so far that, with all those at or below α called significant, the chance of
// even one false one is at most α, however the tests depend on each other. In the order given.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6
// (1979).
std::vector<double> holm(const std::vector<double>& p);

}  // namespace sonde::engine::statistics
