// What it costs to record a call on this machine, found out by small programs that make many of
// them, in rounds: once without the recorder's library, once with it and, of probes that can be
// switched off, once without these. Some tenths of a second, with a GPU some seconds more; plain
// functions, any thread.
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
  std::filesystem::path session;  // folder of the recording; the loops have theirs in it
  std::vector<std::filesystem::path> places;  // where other recordings may have theirs
  std::filesystem::path part;                 // the recording's trace, which says how CUDA was used
  std::string python;                         // the job's interpreter; empty: it is no Python
  bool cuda = false;                          // calls of CUDA, too, where the job has used it …
  std::string cudaHindrance{};                // … unless there is a reason not to
  std::string program = "/proc/self/exe";     // by the name of kCostProgram
  std::chrono::milliseconds mostCudaTime{20'000};  // a GPU is made ready first
  std::function<void(const std::string&)> say;     // before a GPU is used
  std::string build{};                             // buildOf() the installation
  std::filesystem::path cache{};  // where what loops of the host found is kept; empty: nowhere
  bool isAnew = false;            // they run whatever is kept
};

struct CostsFound {
  std::vector<engine::correction::MeasuredCost> costs;
  std::string whyNoCuda;  // calls of CUDA were to be measured and were not: what hindered that
  std::chrono::sys_seconds measured{};  // when loops of the host ran
};

// The folders in that of a recording in which the loops record; what deletes a session knows them.
inline constexpr const char* kCostFolders[] = {"cost-on", "cost-off"};

// `program` where that is a Python interpreter, else empty.
std::string pythonOf(const std::string& program);

// Loops of the host run only where nothing is kept of earlier ones (cost_cache.h). Of what could
// not be run there is nothing: what is assumed has to do then. Once `asked`, no GPU is used any
// more, and nothing is tried again.
CostsFound measureCosts(const CostLoops& loops, const std::stop_token& asked);

}  // namespace sonde::recorder
