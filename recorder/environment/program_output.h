// Runs a short program and returns its output, with a time limit. Plain functions; any thread.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace sonde::recorder {

struct Allowance {
  std::chrono::steady_clock::time_point until;
  std::stop_token asked;  // request to stop early

  bool isOver() const {
    return asked.stop_requested() || std::chrono::steady_clock::now() >= until;
  }
};

// Returns what the program writes to stdout until it closes it; empty: it could not run, or took
// too long. A program that takes too long, or continues after that, is killed with everything it
// has started. One that hangs in a driver cannot be killed and is left running. Signals that a
// terminal sends to the recorder do not reach the program.
std::string outputOf(const std::string& program,
                     const std::vector<std::string>& arguments,    // the first is its name
                     const std::vector<std::string>& environment,  // NAME=VALUE
                     const Allowance& allowance);

}  // namespace sonde::recorder
