#include "cli/verbs.h"

namespace sonde::cli {

std::vector<std::unique_ptr<Command>> allCommands() {
  std::vector<std::unique_ptr<Command>> commands;
#define SONDE_MAKE_COMMAND(Verb) commands.push_back(make##Verb##Command());
  SONDE_VERBS(SONDE_MAKE_COMMAND)
#undef SONDE_MAKE_COMMAND
  return commands;
}

}  // namespace sonde::cli
