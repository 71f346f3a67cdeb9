#include "base/text/byte_size.h"
#include "base/text/time_span.h"
#include "cli/shell/command.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/number_checks.h"
#include "cli/text/word_option.h"
#include "recorder/options/counter_sets.h"
#include "recorder/options/module_categories.h"
#include "recorder/run/job_plan.h"
#include "recorder/run/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

constexpr std::uint64_t kSmallestTrace = 1 << 20;  // an empty trace takes half of it

class RunCommand : public Command {
 public:
  const char* name() const override { return "run"; }
  const char* summary() const override {
    return "record a command and every process that it starts";
  }
  const char* details() const override {
    return "Runs COMMAND unchanged, with Sonde's library in its processes, and writes one trace. "
           "The exit status is that of COMMAND. 125 means that Sonde could not record and did not "
           "start COMMAND, 126 that COMMAND is not executable, 127 that it does not exist.\n"
           "\n"
           "OUT may contain %h (host), %p (pid), %r (rank), %q{NAME} (environment variable) and "
           "%%. In a folder, the trace is named rank<N>.sonde or <program>-<pid>.sonde. SIZE is a "
           "number of bytes, or one with kB, MB, GB, KiB, MiB or GiB, as in 1.5GB. TIME is a "
           "number of seconds, or one with ms, s, m or h. `sonde ctl` pauses and resumes the "
           "recording. With --last, SIGUSR2 to sonde run, or `sonde ctl PID dump`, writes the kept "
           "records, and the recording continues. Sonde does not store secrets with known names "
           "(TOKEN, PASSWORD, KEY, …); --redact adds shell patterns for other names and words.\n"
           "\nExamples:\n"
           "  sonde run -- python3 train.py --epochs 2\n"
           "  sonde run --delay 5m --duration 30s -- python3 train.py\n"
           "  sonde run --last 30s -- python3 train.py\n"
           "  sonde run --calibrate=20 -- python3 train.py\n"
           "  RANK=0 WORLD_SIZE=2 sonde run -o out/ -- python3 train.py\n"
           "  mpirun -np 4 sonde run -o 'run/rank%r.sonde' -- ./train\n";
  }
  const char* operands() const override { return "-- COMMAND [ARGUMENT]..."; }
  void declare(CLI::App& app) override;
  int run() override;
  int usageExit() const override { return recorder::kExitCannotBegin; }

 private:
  void declareProbes(CLI::App& app);
  void declareStacks(CLI::App& app);
  void declarePython(CLI::App& app);
  void declareParts(CLI::App& app);
  // The words after the options, without the `--`; empty after an error, which it has reported.
  std::vector<std::string> command() const;
  // Reads which iterations to record, and what of them; false after an error, which it has
  // reported.
  bool takeParts();

  CLI::App* app_ = nullptr;
  recorder::RunOptions options_;
  std::string sources_;
  std::string counters_;
  std::string capture_;
  std::string calibrate_;
  std::vector<std::string> stacksAt_;
  std::vector<std::string> moduleCategories_;
  std::int64_t duration_ = 0;
  bool noSubreaper_ = false;
};

// Accepts sizes of at least `least` bytes.
CLI::Validator sizeFrom(std::uint64_t least) {
  return {[least](std::string& text) {
            const auto bytes = parseByteSize(text);
            if (!bytes)
              return bytes.error().message;
            if (*bytes < least)
              return fmt::format("{} is too small: give {} or more", text, least);
            text = std::to_string(*bytes);
            return std::string();
          },
          ""};  // CLI11 would append a description to the name of the type
}

// Accepts times of at least `least` ns.
CLI::Validator timeFrom(std::int64_t least) {
  return {[least](std::string& text) {
            const auto time = parseTimeSpan(text);
            if (!time)
              return time.error().message;
            if (*time < least)
              return fmt::format("{} is too short", text);
            text = std::to_string(*time);
            return std::string();
          },
          ""};
}

// Replaces the time of `capture:TIME` by its ns.
CLI::Validator captureInNs() {
  return {[](std::string& word) {
            constexpr std::string_view kCapture = "capture:";
            if (!word.starts_with(kCapture))
              return std::string();
            const auto time = parseTimeSpan(std::string_view(word).substr(kCapture.size()));
            if (!time)
              return time.error().message;
            word = fmt::format("{}{}", kCapture, *time);
            return std::string();
          },
          ""};
}

void RunCommand::declare(CLI::App& app) {
  app_ = &app;
  app.prefix_command();
  app.add_option("-o,--output", options_.output, "name of the trace, or a folder for it")
      ->type_name("OUT");
  app.add_flag("-f,--force", options_.force, "replace an existing trace");
  declareProbes(app);
  app.add_option("--rules", options_.rulesFile, "judge the run by these rules while it is recorded")
      ->type_name("FILE");
  app.add_option(
         "--on-fire",
         options_.onFire,
         "if a rule of severity error fires, end the job or pass the finding on; repeatable")
      ->transform(captureInNs())
      ->type_name("stop|exec:CMD|webhook:URL|capture")
      ->allow_extra_args(false);
  app.add_option("--job-dir",
                 options_.jobFolder,
                 "a folder that all ranks see: rank 0 judges the job, also across hosts")
      ->type_name("DIR");
  app.add_option("--spool", options_.spool, "local folder that holds records until they are stored")
      ->type_name("DIR");
  app.add_option("--spool-limit",
                 options_.spoolLimitBytes,
                 "largest size of the spool on this host, for all ranks together (256MiB)")
      ->transform(sizeFrom(1))
      ->type_name("SIZE");
  app.add_option("--max-size",
                 options_.maxTraceBytes,
                 "largest size of the trace (4GiB or a tenth of the free disk, whichever is less)")
      ->transform(sizeFrom(kSmallestTrace))
      ->type_name("SIZE");
  declareParts(app);
  app.add_option("--redact",
                 options_.redact,
                 "hide text that matches these shell patterns in stored command lines")
      ->type_name("PATTERN");
  app.add_flag("--no-subreaper", noSubreaper_, "leave orphaned processes to init");
  app.add_option(
         "--summary", options_.summaryFile, "write a summary of the recording as JSON to this file")
      ->type_name("FILE");
}

// Options for what is recorded, and how.
void RunCommand::declareProbes(CLI::App& app) {
  app.add_option("--sources",
                 sources_,
                 "probes that record: a,b for these alone, +a,-b to change the default")
      ->type_name("LIST");
  app.add_option(
         "--cuda-graphs", options_.cuda.graphs, "record a CUDA graph as a whole, or its nodes")
      ->check(CLI::IsMember({"graph", "node"}))
      ->type_name("graph|node");
  app.add_option("--counters", counters_, "measure these hardware counters of the GPU by operation")
      ->type_name("SET|METRIC,...");
  app.add_option("--cuda-unified-memory",
                 options_.cuda.unifiedMemory,
                 "record moves of CUDA's managed memory pages, and with faults also page faults")
      ->check(CLI::IsMember({"off", "transfers", "faults"}))
      ->type_name("off|transfers|faults");
  app.add_option("--sample-rate",
                 options_.samplesPerSecond,
                 "samples per second of the machine's state, by the source system (10)")
      ->check(numberBetween(0.01, 1000))
      ->type_name("HZ");
  declareStacks(app);
  app.add_option("--memory-threshold",
                 options_.memoryThreshold,
                 "smallest block of malloc that the source memory records (64KiB)")
      ->transform(sizeFrom(1))
      ->type_name("SIZE");
  declarePython(app);
  app.add_option("--plugin", options_.plugins, "load your own probe, a shared object; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void RunCommand::declareStacks(CLI::App& app) {
  app.add_option("--stack-rate",
                 options_.stacks.perSecond,
                 "stacks per second of CPU time of each thread, by the source stack (99)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("HZ");
  const OptionWords<bool> modes{{"cpu", false}, {"wall", true}};
  takeOneOf(modes,
            "mode",
            app.add_option("--stack-mode",
                           options_.stacks.wall,
                           "take stacks where threads run (cpu), or also where they wait (wall)"));
  app.add_option(
         "--stacks-at", stacksAt_, "also take the stack at each: alloc, block, collective, cuda")
      ->delimiter(',')
      ->check(CLI::IsMember({"alloc", "block", "collective", "cuda"}))
      ->type_name("EVENT,...");
}

// Options for Python and PyTorch.
void RunCommand::declarePython(CLI::App& app) {
  app.add_option("--torch-operators",
                 options_.torchOperators,
                 "record each operator of PyTorch: its name, or also its inputs' shapes and types")
      ->check(CLI::IsMember({"names", "shapes"}))
      ->type_name("names|shapes");
  app.add_option("--tensors",
                 options_.tensorsFile,
                 "select tensors and iterations for the source tensor (all, each 100th iteration)")
      ->type_name("FILE");
  app.add_option("--module-category",
                 moduleCategories_,
                 "category of a Python module's native code: framework, simulator, other or python")
      ->type_name("MODULE=CATEGORY")
      ->allow_extra_args(false);
}

// Options for when to record.
void RunCommand::declareParts(CLI::App& app) {
  app.add_option("--capture",
                 capture_,
                 "record only these in full: iterations:A-B, every:N (iterations) or range:NAME")
      ->type_name("RULE");
  app.add_flag(
      "--calibrate",
      calibrate_,
      "switch probes off and on in blocks of 10 iterations (=N: of N), to measure their cost");
  app.add_option("--delay", options_.times.delayNs, "start recording after this time")
      ->transform(timeFrom(0))
      ->type_name("TIME");
  app.add_option("--duration",
                 duration_,
                 "record for this time, then let the command continue without recording")
      ->transform(timeFrom(1))
      ->type_name("TIME");
  app.add_option("--last",
                 options_.lastNs,
                 "keep only the newest TIME, and write it when the command ends or crashes")
      ->transform(timeFrom(1))
      ->type_name("TIME");
}

std::vector<std::string> RunCommand::command() const {
  std::vector<std::string> words = app_->remaining();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().starts_with('-')) {
    complain(name(), words.front() + " is not an option of run: see `sonde run --help`");
    return {};
  }
  if (words.empty())
    complain(name(), "no command given: write it after --, as in `sonde run -- python3 train.py`");
  return words;
}

bool RunCommand::takeParts() {
  if (app_->count("--capture") > 0) {
    auto rule = recorder::parseCapture(capture_);
    if (!rule) {
      complain(name(), rule.error().message);
      return false;
    }
    options_.capture = std::move(*rule);
  }
  if (app_->count("--calibrate") > 0) {
    // Without a value the parser passes "true".
    auto calibrate = recorder::parseCalibrate(
        calibrate_ == "true" ? std::to_string(wire::kBlockIterations) : calibrate_);
    if (!calibrate) {
      complain(name(), calibrate.error().message);
      return false;
    }
    options_.calibrate = *calibrate;
  }
  return true;
}

int RunCommand::run() {
  options_.command = command();
  if (options_.command.empty())
    return usageExit();
  if (app_->count("--sources") > 0)
    options_.sources = sources_;
  options_.subreaper = !noSubreaper_;
  const std::pair<const char*, bool*> events[] = {{"alloc", &options_.stacks.atAllocations},
                                                  {"block", &options_.stacks.atWaits},
                                                  {"collective", &options_.stacks.atCollectives},
                                                  {"cuda", &options_.stacks.atCudaCalls}};
  for (const auto& [event, isWanted] : events)
    *isWanted = std::find(stacksAt_.begin(), stacksAt_.end(), event) != stacksAt_.end();
  auto categories = recorder::moduleCategories(moduleCategories_);
  if (!categories) {
    complain(name(), categories.error().message);
    return usageExit();
  }
  options_.moduleCategories = *std::move(categories);
  if (duration_ > 0)
    options_.times.durationNs = duration_;
  if (app_->count("--counters") > 0) {
    auto metrics = recorder::counterMetrics(counters_);
    if (!metrics) {
      complain(name(), metrics.error().message);
      return usageExit();
    }
    options_.cuda.counters = std::move(*metrics);
  }
  if (!takeParts())
    return usageExit();
  const auto say = [this](const std::string& message) { complain(name(), message); };
  recorder::RunEnd end;
  {
    const ProgressBar bar(name());
    options_.progress = ProgressBar::progress();
    end = recorder::runJob(options_, say);
  }
  recorder::exitAs(end);
}

}  // namespace

std::unique_ptr<Command> makeRunCommand() {
  return std::make_unique<RunCommand>();
}

}  // namespace sonde::cli
