// Who keeps a job that stands still from going on. Plain functions; any thread.
//
// A rank waits for the members that have not entered its collective, and for the other end of its
// message. A rank that is behind waits for nobody. Culprits are those that others wait for,
// directly or not, and that wait for nobody. If there are none, they are the ranks that wait for
// each other in a circle.
#pragma once

#include "analysis/engine/standstill/standstill.h"

#include <string>
#include <vector>

namespace sonde::rules {

struct Culprit {
  std::string name;                  // "rank 3"
  std::vector<std::string> waiting;  // who waits for it, directly or not
  bool isInCircle = false;
};

// By number of those that wait, most first. Empty: nobody can be named, because no rank's trace
// says for whom it waits, or several are not here.
std::vector<Culprit> culpritsOf(const engine::standstill::Standstill& found);

}  // namespace sonde::rules
