// The table of verbs. To add one: write `verbs/<verb>_command.cpp` with its factory, and add a line
// to SONDE_VERBS.
#pragma once

#include "cli/shell/command.h"
#include "cli/shell/declaration.h"

#include <vector>

// In the order of `sonde --help`.
#define SONDE_VERBS(VERB) \
  VERB(Run)               \
  VERB(Report)            \
  VERB(Breakdown)         \
  VERB(Calibrate)         \
  VERB(Diff)              \
  VERB(Graph)             \
  VERB(Replay)            \
  VERB(Whatif)            \
  VERB(Optimize)          \
  VERB(Microbench)        \
  VERB(Shard)             \
  VERB(Ctl)               \
  VERB(Merge)             \
  VERB(Align)             \
  VERB(Recover)           \
  VERB(Check)             \
  VERB(Baseline)          \
  VERB(Rules)             \
  VERB(Sql)               \
  VERB(Trim)              \
  VERB(Import)            \
  VERB(Export)            \
  VERB(Stats)             \
  VERB(Stacks)            \
  VERB(Gui)               \
  VERB(Doctor)            \
  VERB(Completion)        \
  VERB(Man)

namespace sonde::cli {

#define SONDE_DECLARE_FACTORY(Verb) std::unique_ptr<Command> make##Verb##Command();
SONDE_VERBS(SONDE_DECLARE_FACTORY)
#undef SONDE_DECLARE_FACTORY

// One of each, in that order.
std::vector<std::unique_ptr<Command>> allCommands();

// Their declarations.
std::vector<Declaration> allDeclarations();

}  // namespace sonde::cli
