#include "cli/verbs.h"

namespace sonde::cli {

std::vector<std::unique_ptr<Command>> allCommands() {
  std::vector<std::unique_ptr<Command>> commands;
#define SONDE_MAKE_COMMAND(Verb) commands.push_back(make##Verb##Command());
  SONDE_VERBS(SONDE_MAKE_COMMAND)
#undef SONDE_MAKE_COMMAND
  return commands;
}

std::vector<Declaration> allDeclarations() {
  std::vector<Declaration> declarations;
  for (const auto& command : allCommands())
    declarations.push_back(declarationOf(*command));
  return declarations;
}

}  // namespace sonde::cli
