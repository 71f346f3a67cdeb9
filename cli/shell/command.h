// What a verb of `sonde` is: it declares its name, its help and its options, and runs. One verb is
// one file,
// `<verb>_command.cpp`, which defines its factory; the table in verbs.cpp lists the factories.
// Commands are made, parsed and run by dispatch.cpp on the main thread.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace sonde::cli {

// Exit statuses that every verb shares; `run` and `check` have more of their own.
inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage = 2;  // wrong arguments or configuration
inline constexpr int kExitUnreadable =
    3;  // data that cannot be read, or output that cannot be written

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  virtual const char* name() const = 0;
  // One line, lower case, without a full stop: the list of `sonde --help` shows it.
  virtual const char* summary() const = 0;
  // What `sonde VERB --help` says below the options: paragraphs, and at least one example line that
  // begins "  sonde ".
  virtual const char* details() const = 0;
  // What stands behind the options in the usage line when it is no positional of its own.
  virtual const char* operands() const { return ""; }
  // Options and positionals, bound to members. Called once, before run().
  virtual void declare(CLI::App& app) = 0;
  virtual int run() = 0;
  // The status for arguments that do not parse.
  virtual int usageExit() const { return kExitUsage; }
};

using CommandFactory = std::unique_ptr<Command> (*)();

// Writes "sonde VERB: MESSAGE" to stderr. A message reads "what happened: what to do".
void complain(std::string_view verb, std::string_view message);

// Complains and returns the exit status that fits the error's code.
int fail(std::string_view verb, const Error& error);

// Writes to stdout. Whether that has worked, flushOut() tells.
void printOut(std::string_view text);

// Called once, at the end: what was printed is not to be lost in silence. A reader that has gone
// away (`| head`) is no error.
Result<void> flushOut();

// From the root, as the summary of a verb names what it wrote.
std::string absolutePath(const std::string& path);

// Writes `text` to `path` as writeWhole() does, or to stdout when `path` is empty.
Result<void> writeOut(const std::string& path, std::string_view text);

// Before the work: whether a summary can be written to `path`, without harm to what is read and
// written.
Result<void> checkSummary(const std::string& path,
                          const std::string& output,
                          const std::vector<std::string>& inputs);

}  // namespace sonde::cli
