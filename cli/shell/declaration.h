// A verb's declaration for the parser, help, man pages and shell completion. The verb's own
// declare() is the only source. Made on the main thread.
#pragma once

#include "cli/shell/command.h"

#include <string>
#include <vector>

namespace sonde::cli {

struct DeclaredOption {
  std::string shortName;  // without the dash; may be empty
  std::string longName;   // without the dashes; empty for a positional
  std::string value;      // the name of its type ("FILE", "text|json"); empty for a flag
  std::string text;       // one line
  bool positional = false;
  bool required = false;
  bool repeated = false;  // takes several values
};

struct Declaration {
  std::string name;
  std::string summary;
  std::string details;
  std::string operands;
  std::vector<DeclaredOption> options;  // --help among them, positionals last
};

Declaration declarationOf(Command& command);

// "TRACE...", "[SPOOL]", or operands(): the text after the options in a usage line.
std::string operandsOf(const Declaration& declaration);

// Makes `app` the parser of a verb's arguments.
void prepare(CLI::App& app, Command& command);

// The output of `sonde VERB --help`.
std::string helpOf(Command& command);

}  // namespace sonde::cli
