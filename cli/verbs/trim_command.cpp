#include "analysis/engine/trim/trim.h"
#include "analysis/store/scratch.h"
#include "base/shell_quote.h"
#include "cli/shell/command.h"
#include "cli/shell/progress_bar.h"
#include "cli/shell/time_option.h"
#include "cli/text/number_range.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <filesystem>
#include <tuple>
#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

class TrimCommand : public Command {
 public:
  const char* name() const override { return "trim"; }
  const char* summary() const override {
    return "copy some iterations or a span of time of a trace to a smaller one";
  }
  const char* details() const override {
    return "Writes a smaller trace with all events that overlap the iterations A to B, both "
           "included, or a span of time. All\n"
           "verbs accept it like any other trace.\n"
           "\nExamples:\n"
           "  sonde trim job.sonde -o small.sonde --iterations 10-12\n"
           "  sonde trim job.sonde -o small.sonde --time 1.2s..1.5s\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("-o,--output", options_.output, "the trace to write")
        ->required()
        ->type_name("OUT");
    app.add_option("--iterations", range_, "iterations to keep, by number")->type_name("A-B");
    addTimeOption(app, time_, "the time to keep, since the begin of the trace");
    app.add_flag("-f,--force", options_.overwrite, "replace the output if it exists");
    app.add_option("TRACE", options_.input, "a trace")->required();
  }
  int run() override;

 private:
  Result<void> readKept();
  Result<void> trim();

  engine::trim::TrimOptions options_;
  std::string range_;
  std::string time_;
};

std::string sizeOf(const std::filesystem::path& path) {
  std::error_code problem;
  const auto bytes = std::filesystem::file_size(path, problem);
  return problem ? "?" : humanBytes(static_cast<std::int64_t>(bytes));
}

Result<void> TrimCommand::trim() {
  const store::Scratch scratch(store::unfinishedTrace(options_.output, options_.overwrite));
  const ProgressBar bar(name());
  options_.progress = ProgressBar::progress();
  return engine::trim::trim(options_);
}

Result<void> TrimCommand::readKept() {
  const auto wrong = [](std::string message) {
    return Error{ErrorCode::InvalidArgument, std::move(message)};
  };
  if (range_.empty() == time_.empty())
    return wrong("give either --iterations A-B or --time FROM..TO");
  if (!time_.empty()) {
    SONDE_TRY_ASSIGN(const auto time, readTime(time_));
    options_.time = engine::trim::KeptTime{time->beginNs, time->endNs};
    return {};
  }
  const auto range = parseNumberRange(range_);
  if (!range)
    return wrong(
        fmt::format("'{}' is not a range of iterations: give one like --iterations 10-12", range_));
  std::tie(options_.first, options_.last) = *range;
  return {};
}

int TrimCommand::run() {
  if (const auto kept = readKept(); !kept)
    return fail(name(), kept.error());
  if (const auto trimmed = trim(); !trimmed)
    return fail(name(), trimmed.error());
  const std::string kept =
      options_.time ? time_ : fmt::format("iterations {}-{}", options_.first, options_.last);
  printOut(fmt::format("{} ({}) holds {} of {} ({})\nnext: sonde report {}\n",
                       options_.output.string(),
                       sizeOf(options_.output),
                       kept,
                       options_.input.string(),
                       sizeOf(options_.input),
                       shellQuoted(options_.output.string())));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeTrimCommand() {
  return std::make_unique<TrimCommand>();
}

}  // namespace sonde::cli
