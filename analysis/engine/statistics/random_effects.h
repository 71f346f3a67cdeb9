// Several measurements of one quantity that differ by more than their errors: runs of one program,
// machines of one kind. A measurement is the true value, plus the run's own deviation (variance
// between runs, the same for all), plus its error within the run. Pure functions; any thread.
//
// A disturbed run has a large error and so little weight: nothing has to be discarded.
#pragma once

#include <vector>

namespace sonde::engine::statistics {

struct Measurement {
  double value = 0;
  double variance = 0;  // the square of its standard error. Requires: > 0
};
using Group = std::vector<Measurement>;  // measurements of one true value

// The variance between runs, common to all groups. 0 if runs differ by no more than their errors,
// or no group has two.
double varianceBetween(const std::vector<Group>& groups);

struct GroupMean {
  double value = 0;
  double variance = 0;  // of the mean
  double degrees = 0;   // of freedom of that variance; 0: one measurement, so it is `between` plus
                        // its own error
};

// The weighted mean. Its variance follows from the measurements' spread, but is at least what their
// errors and `between` give. Degrees of freedom count the measurements with weight.
//
// Source: J. Hartung and G. Knapp, "On tests of the overall treatment effect in meta-analysis with
// normally distributed responses", Stat. Med. 20 (2001). Requires: `group` is not empty.
GroupMean meanOf(const Group& group, double between);

struct Difference {
  double value = 0;  // second − first
  double error = 0;  // its standard error
  double degrees = 0;
};

// B. L. Welch's test, for groups with unequal variances (Biometrika 34, 1947). A group of one
// measurement takes the degrees of freedom of the other. 0 degrees: both have one.
Difference differenceOf(const GroupMean& first, const GroupMean& second);

// The p-value of no difference. Requires: degrees > 0.
double twoSided(const Difference& difference);

}  // namespace sonde::engine::statistics
