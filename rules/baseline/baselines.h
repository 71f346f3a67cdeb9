// The runs that a check compares with, and the runs that it judges by them: traces, files of
// accepted runs, and files of learned invariants. Owned by the check, which gives it to Facts.
// Reads when a rule asks. One thread.
#pragma once

#include "analysis/engine/diff/hardware.h"
#include "analysis/engine/diff/run_files.h"
#include "analysis/engine/diff/run_times.h"
#include "base/result.h"
#include "rules/baseline/baseline_file.h"
#include "rules/baseline/learned_file.h"
#include "rules/facts/process_facts.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sonde::rules {

// An earlier run whose traces are there.
struct BaselineRun {
  std::string name;                             // its first trace
  std::vector<const ProcessFacts*> processes;   // of all its traces; those with an iteration
  std::vector<std::unique_ptr<RunFacts>> read;  // owns them
};

struct BothSides {
  std::vector<engine::diff::RunTimes> before;
  std::vector<engine::diff::RunTimes> now;
};

class Baselines {
 public:
  // `words`: traces, folders as runsOf() takes them, and files of `sonde baseline`. `judged`: the
  // runs to judge, the one of the check first. Reads hardware and baseline files, but no times.
  // InvalidArgument: a trace is given twice. NotFound: a folder has no traces.
  static Result<std::unique_ptr<Baselines>> open(const std::vector<std::string>& words,
                                                 std::vector<engine::diff::RunFiles> judged);

  // How the hardware of a run differs from that of the judged one: names both. Unset: it is the
  // same.
  std::optional<std::string> otherHardware() const;

  // The times of all runs by these words of `sonde diff --by`. NotFound: a run or a baseline file
  // lacks them; the message says what to do.
  Result<BothSides> times(const std::vector<std::string>& by) const;

  // The earlier runs with traces, read once. Baseline files have only times.
  Result<const std::vector<BaselineRun>*> runs();

  struct NamedInvariants {
    std::string path;
    LearnedInvariants learned;
  };
  // The files of learned invariants.
  const std::vector<NamedInvariants>& learned() const noexcept { return learned_; }
  // Whether there are earlier runs to compare times with: traces or accepted ones.
  bool hasTimes() const noexcept { return !before_.empty() || !files_.empty(); }

  const std::vector<engine::diff::RunFiles>& judgedFiles() const noexcept { return judged_; }

 private:
  struct NamedHardware {
    std::string name;
    engine::diff::Hardware hardware;
  };
  struct NamedFile {
    std::string path;
    BaselineFile content;
  };

  std::vector<engine::diff::RunFiles> judged_;
  std::vector<engine::diff::RunFiles> before_;
  std::vector<NamedFile> files_;
  std::vector<NamedInvariants> learned_;
  std::vector<NamedHardware> hardware_;  // of the judged run, then of all others
  std::optional<std::vector<BaselineRun>> runs_;
};

// The times of runs by these words, as a baseline keeps them.
Result<std::vector<engine::diff::RunTimes>> readBaselineTimes(
    const std::vector<engine::diff::RunFiles>& runs, const std::vector<std::string>& by);

// All that can be learned of a run.
Result<RunObservations> readRunObservations(const engine::diff::RunFiles& run);

// The hardware of a run.
Result<engine::diff::Hardware> readRunHardware(const engine::diff::RunFiles& run);

}  // namespace sonde::rules
