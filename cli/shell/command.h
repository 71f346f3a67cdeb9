// The interface of a verb of `sonde`: it declares its name, its help and its options, and runs.
// Each verb is one file, `<verb>_command.cpp`, which defines its factory; the table in verbs.cpp
// lists the factories. dispatch.cpp makes, parses and runs commands on the main thread.
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
inline constexpr int kExitUsage = 2;       // wrong arguments or configuration
inline constexpr int kExitUnreadable = 3;  // unreadable data, or output that cannot be written
inline constexpr int kExitNoAnswer = 4;    // the data cannot answer; what is missing is named

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  virtual const char* name() const = 0;
  // One line, lower case, without a full stop; shown in the list of `sonde --help`.
  virtual const char* summary() const = 0;
  // The text below the options in `sonde VERB --help`: paragraphs, and at least one example line
  // that begins "  sonde ".
  virtual const char* details() const = 0;
  // The text after the options in the usage line, unless it is a declared positional.
  virtual const char* operands() const { return ""; }
  // Options and positionals, bound to members. Called once, before run().
  virtual void declare(CLI::App& app) = 0;
  virtual int run() = 0;
  // The exit status for arguments that do not parse.
  virtual int usageExit() const { return kExitUsage; }
};

using CommandFactory = std::unique_ptr<Command> (*)();

// Writes "sonde VERB: MESSAGE" to stderr. A message has the form "what happened: what to do".
void complain(std::string_view verb, std::string_view message);

// Complains and returns the exit status for the error's code.
int fail(std::string_view verb, const Error& error);
// The same, with kExitNoAnswer for NotFound: the trace is fine, but lacks what the question needs.
int failToAnswer(std::string_view verb, const Error& error);

// Writes to stdout; flushOut() reports errors.
void printOut(std::string_view text);

// Flushes stdout and reports an earlier error. Call once, at the end. A closed reader (`| head`) is
// not an error.
Result<void> flushOut();

// The absolute path, for a verb's summary of written files.
std::string absolutePath(const std::string& path);

// Writes `text` to `path` as writeWhole() does, or to stdout when `path` is empty.
Result<void> writeOut(const std::string& path, std::string_view text);

// Checks before the work whether a summary can be written to `path` without overwriting inputs or
// output.
Result<void> checkSummary(const std::string& path,
                          const std::string& output,
                          const std::vector<std::string>& inputs);

}  // namespace sonde::cli
