#include "analysis/engine/metrics/stack_times.h"
#include "analysis/export/output_file.h"
#include "analysis/export/stacks/flame_graph.h"
#include "analysis/export/stacks/stack_paths.h"
#include "analysis/store/scratch.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/text/number_checks.h"
#include "cli/text/number_range.h"
#include "cli/text/word_option.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

using engine::metrics::StackClock;
using Clock = StackClock;
enum class Form { Folded, Svg };

exports::FlameMeasure measureOf(Clock clock) {
  switch (clock) {
    case Clock::Cpu:
      return {"CPU time"};
    case Clock::Blocked:
      return {"waiting"};
    case Clock::Device:
      return {"device time"};
    case Clock::Allocated:
      return {"allocations", true};
    case Clock::Wall:
      break;
  }
  return {"time"};
}

class StacksCommand : public Command {
 public:
  const char* name() const override { return "stacks"; }
  const char* summary() const override {
    return "write a flame graph or folded stacks of the time spent in code";
  }
  const char* details() const override {
    return "folded  one line for each stack, outermost function first, with its nanoseconds: for "
           "flamegraph.pl, speedscope\n"
           "svg     a flame graph for a web browser: click on a frame to zoom in, press / to "
           "highlight a word\n"
           "\n"
           "--time  the quantity of each stack, and the command that records it:\n"
           "  cpu      time on a processor: sonde run --sources +stack\n"
           "  blocked  time waiting: sonde run --sources +stack --stacks-at block\n"
           "  wall     all time of threads: sonde run --sources +stack --stack-mode wall\n"
           "  device   time of devices for it: sonde run --sources +stack --stacks-at cuda\n"
           "  alloc    bytes that it allocated: sonde run --sources +stack,+memory --stacks-at "
           "alloc\n"
           "\n"
           "--operation takes a name that the program annotates ('forward', 'backward', a module). "
           "It counts all threads\n"
           "that work on it.\n"
           "\nExamples:\n"
           "  sonde stacks job.sonde --format svg -o job.svg\n"
           "  sonde stacks job.sonde --operation backward --iterations 10-20 | head\n";
  }
  void declare(CLI::App& app) override {
    const OptionWords<Form> forms{{"folded", Form::Folded}, {"svg", Form::Svg}};
    takeOneOf(forms, "format", app.add_option("--format", form_, "output format (folded)"));
    const OptionWords<Clock> clocks{{"cpu", Clock::Cpu},
                                    {"blocked", Clock::Blocked},
                                    {"wall", Clock::Wall},
                                    {"device", Clock::Device},
                                    {"alloc", Clock::Allocated}};
    takeOneOf(clocks,
              "time",
              app.add_option("--time",
                             filter_.clock,
                             "quantity to count: cpu, blocked, wall, device or alloc (cpu)"));
    app.add_option("--operation", filter_.operation, "count only this operation")
        ->type_name("NAME");
    app.add_option("--iterations", iterations_, "count only these iterations")->type_name("A-B");
    app.add_option("--rank", rank_, "count only this rank")->check(count())->type_name("N");
    app.add_flag("--threads", threads_, "separate threads");
    app.add_option("-o,--output", output_, "file to write (default and -: standard output)")
        ->type_name("FILE");
    app.add_flag("-f,--force", force_, "replace the output if it exists");
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<void> readFilter();
  std::string title() const;
  Result<void> write(const store::Database& trace);

  Form form_ = Form::Folded;
  engine::metrics::StackFilter filter_;
  std::string iterations_;
  std::int64_t rank_ = -1;
  bool threads_ = false;
  std::string output_;
  bool force_ = false;
  std::vector<std::string> traces_;
};

Result<void> StacksCommand::readFilter() {
  if (rank_ >= 0)
    filter_.rank = rank_;
  if (iterations_.empty())
    return {};
  filter_.iterations = parseNumberRange(iterations_);
  if (!filter_.iterations)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not a range of iterations: give one like --iterations 10-12",
                             iterations_)};
  return {};
}

std::string StacksCommand::title() const {
  std::string text = fmt::format("{}", fmt::join(traces_, ", "));
  if (!filter_.operation.empty())
    text += fmt::format(" - {}", filter_.operation);
  if (!iterations_.empty())
    text += fmt::format(" - iterations {}", iterations_);
  if (filter_.rank)
    text += fmt::format(" - rank {}", *filter_.rank);
  return text;
}

// The error if nothing in the selection has a stack.
Error nothingThere(Clock clock) {
  switch (clock) {
    case Clock::Blocked:
      return {ErrorCode::NotFound,
              "the selection has no stack of a wait: no wait was long enough for one (see "
              "docs/probes/stack.md)"};
    case Clock::Device:
      return {ErrorCode::NotFound,
              "the selection launched no kernel and no copy: choose another --operation or "
              "--iterations"};
    case Clock::Allocated:
      return {ErrorCode::NotFound,
              "the selection allocated nothing: choose another --operation or --iterations, or "
              "record smaller blocks with --memory-threshold"};
    default:
      return {ErrorCode::NotFound,
              "the selection has no stack: it ran too briefly for a sample; record more with "
              "--stack-rate"};
  }
}

Result<void> StacksCommand::write(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const auto times, engine::metrics::stackTimes(trace, filter_));
  if (times.empty())
    return nothingThere(filter_.clock);
  const store::Scratch scratch(output_.empty() ? std::vector<std::string>()
                                               : store::unfinishedTrace(output_, force_));
  SONDE_TRY_ASSIGN(const exports::PathTree paths, exports::stackPaths(trace, times, threads_));
  SONDE_TRY_ASSIGN(exports::OutputFile output, exports::OutputFile::create(output_, force_));
  SONDE_TRY(form_ == Form::Svg
                ? exports::writeFlameGraph(paths, title(), measureOf(filter_.clock), output)
                : paths.write(output));
  return output.finish();
}

int StacksCommand::run() {
  if (output_ == "-")
    output_.clear();
  Result<void> ready = readFilter();
  if (ready)
    ready = checkApart(output_, traces_);
  if (!ready)
    return fail(name(), ready.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  if (const auto written = write(job->database()); !written)
    return fail(name(), written.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeStacksCommand() {
  return std::make_unique<StacksCommand>();
}

}  // namespace sonde::cli
