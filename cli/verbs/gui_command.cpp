#include "cli/shell/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

class GuiCommand : public Command {
 public:
  const char* name() const override { return "gui"; }
  const char* summary() const override { return "open traces in a window"; }
  const char* details() const override {
    return "Starts sonde-gui, which is beside sonde and takes the same options. Several traces of "
           "one job appear as one.\n"
           "\n"
           "Exit status: 0 success; 1 no font is installed; 2 wrong usage or no display; 3 a trace "
           "could not be read, a picture could not be written, or sonde-gui could not be started.\n"
           "\nExamples:\n"
           "  sonde gui out/rank0.sonde out/rank1.sonde\n"
           "  sonde gui job.sonde --screenshot timeline.png --size 1920x1080\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--view", view_, "view to open, such as timeline or whatif")->type_name("VIEW");
    app.add_option("--at", at_, "time to show since the begin: 1.5s, or a span 1.2s..1.5s")
        ->type_name("TIME");
    app.add_option("--select", select_, "select the first event with this text in its name")
        ->type_name("NAME");
    app.add_option("--screenshot", screenshot_, "write this PNG and exit; needs no display")
        ->type_name("PNG");
    app.add_option("--size", size_, "window size in pixels, as in 1920x1080")->type_name("WxH");
    app.add_option("--theme", theme_, "theme of the window: system, light or dark")
        ->type_name("system|light|dark");
    app.add_option("TRACE", traces_, "traces of one job")->required()->type_name("");
  }
  int run() override;

 private:
  std::string view_, at_, select_, screenshot_, size_, theme_;
  std::vector<std::string> traces_;
};

int GuiCommand::run() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "sonde-gui").string();
  std::vector<std::string> words = {program};
  for (const auto& [option, value] : {std::pair("--view", view_),
                                      std::pair("--at", at_),
                                      std::pair("--select", select_),
                                      std::pair("--screenshot", screenshot_),
                                      std::pair("--size", size_),
                                      std::pair("--theme", theme_)})
    if (!value.empty())
      words.insert(words.end(), {option, value});
  words.insert(words.end(), traces_.begin(), traces_.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  const std::string advice = errno == ENOENT
                                 ? "build it with -DSONDE_GUI=ON, or install sonde-gui beside sonde"
                                 : "check that the file may be executed";
  complain(name(),
           fmt::format(
               "cannot start {}: {}: {}", program, std::generic_category().message(errno), advice));
  return kExitUnreadable;
}

}  // namespace

std::unique_ptr<Command> makeGuiCommand() {
  return std::make_unique<GuiCommand>();
}

}  // namespace sonde::cli
