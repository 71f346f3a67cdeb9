// What a short program of the recorder's own writes, in no more time than it is given. Plain
// functions; any thread.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace sonde::recorder {

struct Allowance {
  std::chrono::steady_clock::time_point until;
  std::stop_token asked;  // to end before

  bool isOver() const {
    return asked.stop_requested() || std::chrono::steady_clock::now() >= until;
  }
};

// To stdout, until it closes that; empty: it could not be run, or not in time. Then, or if it goes
// on, it is killed with what it has started; one that hangs in a driver does not even die, and is
// left. Signals that a terminal sends to the recorder do not reach it.
std::string outputOf(const std::string& program,
                     const std::vector<std::string>& arguments,    // the first is its name
                     const std::vector<std::string>& environment,  // NAME=VALUE
                     const Allowance& allowance);

}  // namespace sonde::recorder
