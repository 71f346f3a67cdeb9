// The runs of a side as one number each, with its error, and which runs were disturbed by something
// else. Pure functions; any thread. Within engine/diff.
#pragma once

#include "analysis/engine/diff/comparison.h"
#include "analysis/engine/statistics/random_effects.h"

#include <cstddef>
#include <vector>

namespace sonde::engine::diff {

struct RunCentre {
  statistics::Measurement shown;  // as a share of `scale`
  double varianceOfBlocks = 0;    // of the square of that scale
  std::size_t blocks = 0;
  std::size_t run = 0;  // index in the observations
};

// Returned in the order of the runs.
std::vector<RunCentre> centresOf(const Observations& runs, Measure measure, double scale);

// The scale on which both sides are about 1: the measure of the median run, or of the mean run if
// most runs lack the subject. 0 if there is no time.
double scaleOf(const Observations& a, const Observations& b, Measure measure);

// Raises errors below the median run's to that. A few blocks may show a small error by chance, and
// the run would outweigh all others.
void moderate(std::vector<RunCentre>& a, std::vector<RunCentre>& b);

// Removes runs of either side that are far from the middle of both, the farthest first. At least
// three runs and three fifths of a side stay. A run that lies near the other side's runs was not
// disturbed: runs of both kinds can then occur on both sides.
void dropDisturbed(std::vector<RunCentre>& a, std::vector<RunCentre>& b);

}  // namespace sonde::engine::diff
