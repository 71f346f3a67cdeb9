#include "cli/shell/command.h"
#include "cli/text/table.h"
#include "recorder/doctor/doctor.h"

#include <fmt/format.h>

#include <cstdlib>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

class DoctorCommand : public Command {
 public:
  const char* name() const override { return "doctor"; }
  const char* summary() const override { return "check what can be recorded on this machine"; }
  const char* details() const override {
    return "Checks the probes, the versions of the libraries, the spool folder and the clock that "
           "`sonde run` would use.\n"
           "\nExamples:\n"
           "  sonde doctor\n"
           "  sonde doctor --format json\n";
  }
  void declare(CLI::App& app) override {
    addFormatOption(app, format_);
    app.add_option("--spool", spool_, "check this folder as --spool of sonde run")
        ->type_name("DIR");
  }
  int run() override;

 private:
  Format format_ = Format::Table;
  std::string spool_;
};

std::string placeText(const recorder::PlaceCheck& check) {
  if (!check.usable)
    return check.why;
  return fmt::format(
      "{}, up to {}", check.fileSystem, humanBytes(static_cast<std::int64_t>(check.limitBytes)));
}

Table probeTable(const recorder::DoctorReport& report) {
  Table table{{{"name", "probe"}, {"available", "here"}, {"reason", ""}}, {}};
  for (const auto& probe : report.probes)
    table.rows.push_back({probe.name, std::string(probe.available ? "yes" : "no"), probe.reason});
  return table;
}

std::string asText(const recorder::DoctorReport& report) {
  Table versions{{{"name", "found"}, {"version", ""}}, {}};
  for (const auto& [name, version] : report.versions)
    versions.rows.push_back({name, version.empty() ? std::string("-") : version});
  Table places{{{"place", "spool"}, {"usable", "usable"}, {"what", ""}}, {}};
  for (const auto& check : report.spool)
    places.rows.push_back(
        {check.place.string(), std::string(check.usable ? "yes" : "no"), placeText(check)});
  return renderText(probeTable(report)) + "\n" + renderText(versions) + "\n" + renderText(places) +
         fmt::format("\nclock: {}\n", report.clock);
}

nlohmann::json asJson(const recorder::DoctorReport& report) {
  nlohmann::json document{{"schema", 1}, {"versions", report.versions}, {"clock", report.clock}};
  for (const auto& probe : report.probes)
    document["probes"].push_back(
        {{"name", probe.name}, {"available", probe.available}, {"reason", probe.reason}});
  for (const auto& check : report.spool)
    document["spool"].push_back({{"place", check.place.string()},
                                 {"usable", check.usable},
                                 {"file_system", check.fileSystem},
                                 {"limit_bytes", check.limitBytes},
                                 {"reason", check.why}});
  return document;
}

int DoctorCommand::run() {
  recorder::SpoolRequest request;
  request.place = spool_;
  request.variable = [](const std::string& variable) -> std::optional<std::string> {
    const char* value = std::getenv(variable.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  recorder::DoctorReport report = recorder::examine(request);
  report.versions["sonde"] = SONDE_VERSION;
  if (format_ == Format::Json)
    printOut(dumpJson(asJson(report)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(probeTable(report)));
  else
    printOut(asText(report));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeDoctorCommand() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace sonde::cli
