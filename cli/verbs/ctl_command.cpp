#include "cli/shell/command.h"
#include "cli/text/number_checks.h"
#include "cli/text/table.h"
#include "cli/text/word_option.h"
#include "recorder/control/control_request.h"
#include "recorder/control/recording_status.h"
#include "recorder/spool/find_recording.h"
#include "recorder/spool/session_page.h"
#include "recorder/spool/spool_place.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using recorder::ControlVerb;
using recorder::FoundRecording;
using recorder::RecordingStatus;
using wire::RecordingState;

enum class Action { Start, Stop, Status, Dump };
enum class StatusFormat { Text, Json };

class CtlCommand : public Command {
 public:
  const char* name() const override { return "ctl"; }
  const char* summary() const override {
    return "pause, resume or dump a recording, or print its status";
  }
  const char* details() const override {
    return "stop pauses the recording in all processes of the job; a pause costs them nothing. "
           "start resumes it. dump makes a flight recorder (`sonde run --last`) write its records "
           "beside the output, and continue. The trace has the start and end of each pause, and "
           "does not count pauses as losses.\n"
           "\nExamples:\n"
           "  sonde ctl 4711 stop\n"
           "  sonde ctl 4711 start\n"
           "  sonde ctl $(pgrep -f train.py) status --format json\n"
           "  sonde ctl 4711 dump\n";
  }
  void declare(CLI::App& app) override;
  int run() override;

 private:
  int ask(const FoundRecording& recording, ControlVerb verb);
  int showStatus(const FoundRecording& recording) const;

  int pid_ = 0;
  Action action_ = Action::Status;
  StatusFormat format_ = StatusFormat::Text;
};

void CtlCommand::declare(CLI::App& app) {
  app.add_option("PID", pid_, "pid of a `sonde run`, or of any process that it records")
      ->check(positiveNumber())
      ->required()
      ->type_name("");
  takeOneOf<Action>({{"start", Action::Start},
                     {"stop", Action::Stop},
                     {"status", Action::Status},
                     {"dump", Action::Dump}},
                    "action",
                    app.add_option("ACTION", action_, "what to do")->required());
  addFormatOption<StatusFormat>(app,
                                format_,
                                {{"text", StatusFormat::Text}, {"json", StatusFormat::Json}},
                                "output format of status");
}

std::string stateWord(RecordingState state) {
  switch (state) {
    case RecordingState::On:
      return "recording";
    case RecordingState::Paused:
      return "paused";
    case RecordingState::Off:
      break;
  }
  return "ended";
}

std::string bytes(std::uint64_t count) {
  return humanBytes(static_cast<std::int64_t>(count));
}

std::string duration(std::chrono::nanoseconds time) {
  return humanDuration(time.count());
}

std::string lostText(const RecordingStatus& status) {
  std::string text;
  for (const auto& [reason, count] : status.lost)
    if (count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, count);
  return text.empty() ? "nothing" : text;
}

std::string asText(const RecordingStatus& status) {
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(status.since);
  std::string text = fmt::format("{} since {:%Y-%m-%d %H:%M:%S}\n",
                                 stateWord(status.state),
                                 fmt::localtime(static_cast<std::time_t>(since.count())));
  const auto line = [&text](const char* label, const std::string& value) {
    text += fmt::format("{:<11}{}\n", label, value);
  };
  line("recorder", fmt::format("process {}", status.recorderPid));
  line("processes", std::to_string(status.processes));
  line("spool", fmt::format("{} of {}", bytes(status.spoolBytes), bytes(status.spoolLimitBytes)));
  line("output", fmt::format("{}, {} so far", status.output.string(), bytes(status.traceBytes)));
  line("lost", lostText(status));
  if (status.ring)
    line("kept",
         fmt::format("the last {} of {}; {} of older records were dropped",
                     duration(std::min(status.ring->kept, status.ring->asked)),
                     duration(status.ring->asked),
                     bytes(status.ring->discardedBytes)));
  return text;
}

nlohmann::json asJson(const RecordingStatus& status) {
  nlohmann::json document{{"schema", 1},
                          {"state", stateWord(status.state)},
                          {"since_ns", std::to_string(status.since.count())},
                          {"recorder_pid", status.recorderPid},
                          {"processes", status.processes},
                          {"spool_bytes", status.spoolBytes},
                          {"spool_limit_bytes", status.spoolLimitBytes},
                          {"output", status.output.string()},
                          {"trace_bytes", status.traceBytes},
                          {"lost", status.lost},
                          {"last", nullptr}};
  if (status.ring)
    document["last"] = {{"asked_ns", status.ring->asked.count()},
                        {"kept_ns", std::min(status.ring->kept, status.ring->asked).count()},
                        {"discarded_bytes", status.ring->discardedBytes}};
  return document;
}

int CtlCommand::showStatus(const FoundRecording& recording) const {
  const auto status = recorder::statusOf(recording);
  if (!status)
    return fail(name(), status.error());
  printOut(format_ == StatusFormat::Json ? dumpJson(asJson(*status)) : asText(*status));
  return kExitOk;
}

int CtlCommand::ask(const FoundRecording& recording, ControlVerb verb) {
  const auto page = recorder::SessionPage::open(recording.folder);
  if (!page)
    return fail(name(), page.error());
  recorder::AskOptions options;
  options.recorderLives = [&recording] { return recorder::launcherRuns(recording.manifest); };
  const auto answer = recorder::askRecorder(page->words(), verb, options);
  if (!answer)
    return fail(
        name(),
        {answer.error().code,
         fmt::format("process {}: {}", recording.manifest.launcherPid, answer.error().message)});
  printOut(*answer + "\n");
  return kExitOk;
}

int CtlCommand::run() {
  recorder::SpoolRequest request;
  request.variable = [](const std::string& variable) -> std::optional<std::string> {
    const char* value = std::getenv(variable.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  const auto recording = recorder::findRecording(pid_, recorder::spoolPlaces(request));
  if (!recording)
    return fail(name(), recording.error());
  switch (action_) {
    case Action::Start:
      return ask(*recording, ControlVerb::Start);
    case Action::Stop:
      return ask(*recording, ControlVerb::Stop);
    case Action::Dump:
      return ask(*recording, ControlVerb::Dump);
    case Action::Status:
      break;
  }
  return showStatus(*recording);
}

}  // namespace

std::unique_ptr<Command> makeCtlCommand() {
  return std::make_unique<CtlCommand>();
}

}  // namespace sonde::cli
