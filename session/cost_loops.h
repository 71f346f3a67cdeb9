// What it costs to record a call on this machine, found out by small programs that make many of
// them: once with the recorder's library in it, once with the probes switched off, and once
// without. Some 0.1 s, with a GPU some seconds more, 20 at most; plain functions, any thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "session/environment.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde::session {

struct CostLoops {
  Installation installation;
  std::vector<std::string> environment;  // NAME=VALUE: the job's own
  std::uint32_t probeMask = 0;
  std::filesystem::path session;  // folder of the recording, which the loops have theirs in
  std::string python;             // the job's interpreter; empty: it is no Python
  std::string cupti;              // that recorded the job's CUDA; empty: it used none
  int localRank = 0;              // of the job, whose GPU is that of this number
};

// The folders in that of a recording in which the loops record; what deletes a session knows them.
inline constexpr const char* kCostFolders[] = {"cost-on", "cost-off"};

// `program` where that is a Python interpreter, else empty.
std::string pythonOf(const std::string& program);

// Empty where they could not be run: what is assumed has to do then.
std::vector<engine::correction::MeasuredCost> measureCosts(const CostLoops& loops);

}  // namespace sonde::session
