// What `sonde run` has to know before it makes anything: the program, where Sonde's own files are,
// which probes record, and what the files say that it was given. Reads files and, to try plugins,
// starts a process; main thread.
#pragma once

#include "recorder/environment/environment.h"
#include "recorder/run/run_options.h"
#include "rules/configuration.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

inline constexpr int kExitCannotBegin = 125;  // Sonde could not begin; the job was not started

struct JobPlan {
  std::string program;  // the command's, as exec takes it
  Installation installation;
  std::uint32_t probeMask = 0;
  std::vector<std::filesystem::path> plugins;
  std::optional<rules::Configuration> rules;
  std::string tensorPlan;  // empty: what there is without

  std::string refusal;  // why the job cannot be run so; empty: it can
  int exitStatus = 0;   // of a refusal: 125, or of the command 126 or 127

  bool records(wire::Probe probe) const noexcept {
    return (probeMask >> static_cast<unsigned>(probe) & 1) != 0;
  }
};

// `environment`: the job's own, NAME=VALUE.
JobPlan planJob(const RunOptions& options, const std::vector<std::string>& environment);

}  // namespace sonde::recorder
