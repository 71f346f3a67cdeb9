#include "cli/shell/completion.h"
#include "cli/verbs.h"

#include <map>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

using Script = std::string (*)(const std::vector<Declaration>&);

class CompletionCommand : public Command {
 public:
  const char* name() const override { return "completion"; }
  const char* summary() const override { return "print a completion script for a shell"; }
  const char* details() const override {
    return "An installation has the scripts in share/bash-completion, share/zsh and share/fish. "
           "Shells find them there if the prefix is /usr or /usr/local. With another prefix, add "
           "the script to the shell's start-up file.\n\n"
           "Examples:\n"
           "  sonde completion bash >> ~/.bash_completion\n"
           "  sonde completion fish > ~/.config/fish/completions/sonde.fish\n";
  }
  void declare(CLI::App& app) override {
    static const std::map<std::string, Script> kScripts = {
        {"bash", bashCompletion}, {"zsh", zshCompletion}, {"fish", fishCompletion}};
    app.add_option_function<std::string>(
           "SHELL", [this](const std::string& shell) { script_ = kScripts.at(shell); }, "the shell")
        ->required()
        ->check(CLI::IsMember(kScripts).description(""))
        ->type_name("bash|zsh|fish");
    app.add_option("-o,--output", output_, "write the script to this file")->type_name("FILE");
  }
  int run() override;

 private:
  Script script_ = nullptr;
  std::string output_;
};

int CompletionCommand::run() {
  if (const auto written = writeOut(output_, script_(allDeclarations())); !written)
    return fail(name(), written.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeCompletionCommand() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace sonde::cli
