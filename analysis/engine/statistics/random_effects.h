// Several measurements of one thing, each with an error of its own, that differ by more than their
// errors: runs of one program, machines of one kind. A measurement is the true value, plus what its
// run has of its own (variance between runs, the same for all), plus its error within the run. Pure
// functions; any thread.
//
// A run that was disturbed has a large error, and so it weighs little: nothing has to be thrown
// away for that.
#pragma once

#include <vector>

namespace sonde::engine::statistics {

struct Measurement {
  double value = 0;
  double variance = 0;  // the square of its standard error. Requires: > 0
};
using Group = std::vector<Measurement>;  // that have one true value

// The variance between runs, common to the groups; 0 where they differ by no more than their
// errors, or where no group has two.
//
// Source: R. C. Paule and J. Mandel, "Consensus values and weighting factors", J. Res. NBS 87
// (1982), with a mean for each group.
double varianceBetween(const std::vector<Group>& groups);

struct GroupMean {
  double value = 0;
  double variance = 0;  // of the mean
  double degrees = 0;   // of freedom, of that variance; 0: of one measurement, so it is `between`
                        // plus its own error
};

// The weighted mean, with the variance that its measurements show, but no less than their errors
// and `between` make. The degrees of freedom are those of the measurements that have weight.
//
// Source: J. Hartung and G. Knapp, "On tests of the overall treatment effect in meta-analysis with
// normally distributed responses", Stat. Med. 20 (2001). Requires: `group` is not empty.
GroupMean meanOf(const Group& group, double between);

struct Difference {
  double value = 0;  // second − first
  double error = 0;  // its standard error
  double degrees = 0;
};

// B. L. Welch's, of groups whose variances need not be equal (Biometrika 34, 1947); a group of one
// measurement takes the degrees of freedom of the other. 0 degrees: both have one.
Difference differenceOf(const GroupMean& first, const GroupMean& second);

// The p-value of no difference. Requires: degrees > 0.
double twoSided(const Difference& difference);

}  // namespace sonde::engine::statistics
