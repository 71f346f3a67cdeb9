#include "cli/shell/man_page.h"
#include "cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

class ManCommand : public Command {
 public:
  const char* name() const override { return "man"; }
  const char* summary() const override { return "print the man page of a verb"; }
  const char* details() const override {
    return "The page is in roff, for man. Without VERB, it is sonde(1). An installation already "
           "has the pages in share/man.\n\n"
           "Examples:\n"
           "  sonde man run | man -l -\n"
           "  sonde man --all ~/.local/share/man/man1\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("VERB", verb_, "the verb; without it, sonde itself");
    app.add_option("--all", folder_, "write the pages of all verbs to this folder")
        ->type_name("DIR");
  }
  int run() override;

 private:
  int writeAll(const std::vector<Declaration>& verbs) const;

  std::string verb_, folder_;
};

int ManCommand::writeAll(const std::vector<Declaration>& verbs) const {
  const std::filesystem::path folder = folder_;
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);  // writeOut reports an error
  if (const auto written = writeOut(folder / "sonde.1", manOverview(verbs)); !written)
    return fail(name(), written.error());
  for (const Declaration& verb : verbs)
    if (const auto written = writeOut(folder / fmt::format("sonde-{}.1", verb.name), manPage(verb));
        !written)
      return fail(name(), written.error());
  return kExitOk;
}

int ManCommand::run() {
  const std::vector<Declaration> verbs = allDeclarations();
  if (!folder_.empty())
    return writeAll(verbs);
  if (verb_.empty()) {
    printOut(manOverview(verbs));
    return kExitOk;
  }
  const auto found = std::find_if(
      verbs.begin(), verbs.end(), [&](const Declaration& verb) { return verb.name == verb_; });
  if (found == verbs.end()) {
    complain(name(), fmt::format("there is no verb '{}': `sonde --help` lists the verbs", verb_));
    return kExitUsage;
  }
  printOut(manPage(*found));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeManCommand() {
  return std::make_unique<ManCommand>();
}

}  // namespace sonde::cli
