// Prepares `sonde run` before anything is created: finds the program and Sonde's own files, selects
// the probes, and reads the files given as options. Reads files and, to test plugins, starts a
// process; main thread.
#pragma once

#include "recorder/environment/environment.h"
#include "recorder/live/job_watch.h"
#include "recorder/live/on_fire.h"
#include "recorder/run/run_options.h"
#include "rules/configuration/configuration.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

inline constexpr int kExitCannotBegin = 125;  // Sonde could not begin; the job was not started

struct JobPlan {
  std::string program;  // the command's, as an argument of exec
  Installation installation;
  std::uint32_t probeMask = 0;
  std::vector<std::filesystem::path> plugins;
  std::optional<rules::Configuration> rules;
  OnFire onFire;
  std::optional<WatchedJob> watchedJob;
  std::string tensorPlan;  // empty: the default

  std::string refusal;  // why the job cannot run like this; empty: it can
  int exitStatus = 0;   // of a refusal: 125, or 126 or 127 for the command

  bool records(wire::Probe probe) const noexcept {
    return (probeMask >> static_cast<unsigned>(probe) & 1) != 0;
  }
};

// `environment`: the job's own, NAME=VALUE.
JobPlan planJob(const RunOptions& options, const std::vector<std::string>& environment);

}  // namespace sonde::recorder
