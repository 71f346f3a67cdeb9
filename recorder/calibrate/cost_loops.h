// Measures the cost of recording a call on this machine. Small programs make many calls, in rounds:
// once without the recorder's library, once with it and, for maskable probes, once with these off.
// Takes some tenths of a second, with a GPU some seconds more. Plain functions, any thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "recorder/environment/environment.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace sonde::recorder {

struct CostLoops {
  Installation installation;
  std::vector<std::string> environment;  // NAME=VALUE: the job's own
  std::uint32_t probeMask = 0;
  std::filesystem::path session;  // folder of the recording; the loops create theirs in it
  std::vector<std::filesystem::path> places;  // where other recordings may have their folders
  std::filesystem::path part;              // the recording's trace, which shows how CUDA was used
  std::string python;                      // the job's interpreter; empty: not a Python job
  bool cuda = false;                       // also measure calls of CUDA if the job has used it …
  std::string cudaHindrance{};             // … unless there is a reason not to
  std::string program = "/proc/self/exe";  // run under the name kCostProgram
  std::chrono::milliseconds mostCudaTime{20'000};  // includes the time to initialise a GPU
  std::function<void(const std::string&)> say;     // before a GPU is used
  std::string build{};                             // buildOf() the installation
  std::filesystem::path cache{};  // folder that keeps the costs of host loops; empty: none
  bool isAnew = false;            // measure even if costs are kept
};

struct CostsFound {
  std::vector<engine::correction::MeasuredCost> costs;
  std::string whyNoCuda;                // why calls of CUDA were not measured although requested
  std::chrono::sys_seconds measured{};  // when the host loops ran
};

// The folders in a recording's folder in which the loops record; code that deletes a session
// deletes them.
inline constexpr const char* kCostFolders[] = {"cost-on", "cost-off"};

// `program` if it is a Python interpreter, else empty.
std::string pythonOf(const std::string& program);

// Runs the host loops only if no earlier results are kept (cost_cache.h). Loops that could not run
// have no result; the assumed costs then apply. Once `asked` requests a stop, no GPU is used any
// more and nothing is retried.
CostsFound measureCosts(const CostLoops& loops, const std::stop_token& asked);

}  // namespace sonde::recorder
