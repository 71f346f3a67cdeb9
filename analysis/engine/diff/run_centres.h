// The runs of a side, each as one number with its error, and which of them something else
// disturbed. Pure functions; any thread. Within engine/diff.
#pragma once

#include "analysis/engine/diff/comparison.h"
#include "analysis/engine/statistics/random_effects.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::diff {

struct RunCentre {
  statistics::Measurement shown;  // as a share of a scale
  double varianceOfBlocks = 0;    // … of its square
  std::size_t blocks = 0;
  std::size_t run = 0;  // in the observations
};

// In the order of the runs.
std::vector<RunCentre> centresOf(const Observations& runs, Measure measure, double scale);

// The scale on which both sides are about 1: what the measure shows of the middle run, or, of what
// most runs do not have, of the mean one. 0 where there is nothing.
double scaleOf(const Observations& a, const Observations& b, Measure measure);

// No run is surer than the median run: an error that is estimated from a few blocks may be small by
// chance, and its run would outweigh all others.
void moderate(std::vector<RunCentre>& a, std::vector<RunCentre>& b);

// Takes out the runs of either side that lie far from the middle of both, the farthest first; three
// runs and three fifths of a side stay. One that lies where the other side is was not disturbed:
// then runs of both kinds are to be expected on both sides.
void dropDisturbed(std::vector<RunCentre>& a, std::vector<RunCentre>& b);

}  // namespace sonde::engine::diff
