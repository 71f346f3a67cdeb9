#include "cli/dispatch.h"

#include "base/suggest.h"
#include "cli/shell/declaration.h"
#include "cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include <CLI/CLI.hpp>

namespace sonde::cli {
namespace {

std::string overview(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string text =
      "sonde — a profiler for machine-learning training, across every layer\n\n"
      "Usage: sonde VERB [OPTIONS] …\n\nVerbs:\n";
  for (const auto& command : commands)
    text += fmt::format("  {:<12}{}\n", command->name(), command->summary());
  return text +
         "\n"
         "  sonde VERB --help   describe a verb, with examples\n"
         "  sonde --version     print the version\n";
}

int unknownVerb(const std::string& word, const std::vector<std::unique_ptr<Command>>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto& command : commands)
    names.emplace_back(command->name());
  const std::string nearest = nearestWord(word, names);
  const std::string advice = nearest.empty() ? "`sonde --help` lists the verbs"
                                             : fmt::format("did you mean `sonde {}`?", nearest);
  complain("", fmt::format("there is no verb '{}': {}", word, advice));
  return kExitUsage;
}

std::string oneSentence(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int runVerb(Command& command, std::vector<std::string> arguments) {
  CLI::App app;
  prepare(app, command);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 requires this order
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    printOut(app.help());
    return kExitOk;
  } catch (const CLI::Error& error) {
    complain(command.name(),
             fmt::format("{}: see `sonde {} --help`", oneSentence(error.what()), command.name()));
    return command.usageExit();
  }
  try {
    return command.run();
  } catch (const std::bad_alloc&) {  // unwinding has removed unfinished work
    complain(command.name(), "out of memory: free some, or raise the memory limit");
    return kExitUnreadable;
  }
}

int answer(const std::vector<std::string>& arguments) {
  const auto commands = allCommands();
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first == "help" && arguments.size() > 1)
    return answer({arguments[1], "--help"});
  if (first == "--version") {
    printOut(fmt::format("sonde {}\n", SONDE_VERSION));
    return kExitOk;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    printOut(overview(commands));
    return kExitOk;
  }
  if (first.empty()) {
    complain("", "no verb given: `sonde --help` lists the verbs");
    return kExitUsage;
  }
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const auto& command) {
    return first == command->name();
  });
  if (found == commands.end())
    return unknownVerb(first, commands);
  return runVerb(**found, {arguments.begin() + 1, arguments.end()});
}

}  // namespace

int dispatch(const std::vector<std::string>& arguments) {
  const int status = answer(arguments);
  const auto written = flushOut();
  if (written)
    return status;
  const bool verb = !arguments.empty() && !arguments.front().starts_with('-');
  return fail(verb ? arguments.front() : "", written.error());
}

}  // namespace sonde::cli
