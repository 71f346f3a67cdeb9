#include "analysis/store/scratch.h"
#include "base/shell_quote.h"
#include "cli/report/report_lines.h"
#include "cli/shell/command.h"
#include "cli/shell/progress_bar.h"
#include "recorder/recover/recover.h"
#include "recorder/spool/spool_place.h"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> gStop{false};

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<fs::path> places() {
  return recorder::spoolPlaces({.place = "", .variable = variable});
}

class RecoverCommand : public Command {
 public:
  const char* name() const override { return "recover"; }
  const char* summary() const override { return "finish the trace of a recording that was killed"; }
  const char* details() const override {
    return "SPOOL is the folder of `sonde run --spool`, the folder of a session in it, one of the "
           "session's spool files, or the session's .part. Without SPOOL, `recover` finishes all "
           "sessions of this user whose recorder is dead, in $SONDE_SPOOL, $TMPDIR, /tmp and "
           "/var/tmp.\n"
           "\n"
           "`recover` completes the session's unfinished trace and renames it. With -o it writes "
           "the whole trace to OUT instead, and keeps the session. Running it twice changes "
           "nothing. If processes of the job still run, it records them until they end, or until "
           "Ctrl-C. Without -f it changes nothing if a trace of another run has the name, or if "
           "the .part is gone and held records that are no longer in the spool.\n"
           "\nExamples:\n"
           "  sonde recover\n"
           "  sonde recover /tmp/sonde-1000/4711-5f3a99c2 -o rescued.sonde\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("SPOOL", spool_, "folder of --spool, session folder, spool file or .part")
        ->type_name("");
    app.add_option("-o,--output", output_, "write the whole trace to this file")->type_name("OUT");
    app.add_flag(
        "-f,--force", force_, "replace a trace of another run; continue without a missing .part");
  }
  int run() override;

 private:
  int recoverOne(const fs::path& spool, bool follow);
  int recoverAll();

  std::string spool_;
  std::string output_;
  bool force_ = false;
};

// A trace in a file of its own can be made again, so an interruption removes it. The next recover
// finishes the session's own trace.
Result<recorder::Recovered> recover(const fs::path& spool, recorder::RecoverOptions& options) {
  const store::Scratch scratch(options.output.empty()
                                   ? std::vector<std::string>()
                                   : store::unfinishedTrace(options.output, false));
  const ProgressBar bar("recover");
  options.progress = ProgressBar::progress();
  return recorder::recoverSession(spool, options);
}

int RecoverCommand::recoverOne(const fs::path& spool, bool follow) {
  recorder::RecoverOptions options;
  std::error_code failure;
  if (!output_.empty())
    options.output = fs::absolute(output_, failure);
  options.replace = force_;
  options.places = places();
  options.follow = follow;
  options.stop = &gStop;
  options.say = [this](const std::string& line) { complain(name(), line); };
  const auto recovered = recover(spool, options);
  if (!recovered)
    return fail(name(), recovered.error());
  if (recovered->trace.empty()) {
    printOut(fmt::format(
        "{}: skipped, {}: name it to continue the recording\n", spool.string(), recovered->why));
    return kExitOk;
  }
  const std::string trace = recovered->trace.string();
  if (recovered->wasFinished) {
    printOut(fmt::format("{} was complete\n", trace));
    return kExitOk;
  }
  const recorder::DrainTotals& totals = recovered->totals;
  for (const std::string& warning : totals.warnings)
    complain(name(), warning);
  std::uint64_t lost = 0;
  for (const auto& [reason, count] : totals.dropped)
    lost += reason == "names" ? 0 : count;
  const auto rows = [&](const char* table) {
    return static_cast<std::int64_t>(totals.events.at(table));
  };
  printOut(fmt::format("{}: {}, {}, {}\nnext: sonde report {}\n",
                       trace,
                       counted(rows("process"), "process", "processes"),
                       counted(rows("slice"), "slice", "slices"),
                       counted(static_cast<std::int64_t>(lost), "lost record", "lost records"),
                       shellQuoted(trace)));
  return kExitOk;
}

int RecoverCommand::recoverAll() {
  const auto sessions = recorder::abandonedSessions(places());
  if (sessions.empty())
    printOut("nothing to recover\n");
  int status = kExitOk;
  for (const fs::path& folder : sessions)
    status = std::max(status, recoverOne(folder, false));
  return status;
}

int RecoverCommand::run() {
  // The first interrupt stops following the running processes; the second ends this program.
  if (output_.empty())
    std::signal(SIGINT, [](int signal) {
      if (gStop.exchange(true))
        std::signal(signal, SIG_DFL), std::raise(signal);
    });
  if (!spool_.empty())
    return recoverOne(spool_, true);
  if (output_.empty())
    return recoverAll();
  complain(name(), "-o needs a session: sonde recover SPOOL -o OUT");
  return kExitUsage;
}

}  // namespace

std::unique_ptr<Command> makeRecoverCommand() {
  return std::make_unique<RecoverCommand>();
}

}  // namespace sonde::cli
