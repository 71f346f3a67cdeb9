// The last steps of a recording, each of which may be killed and done again. Plain functions; one
// thread at a time.
#pragma once

#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace sonde::recorder {

// Rows of table meta.
using MetaRows = std::map<std::string, std::string>;

struct Completion {
  std::filesystem::path
      spool;  // what `sonde recover` is to be given: a session's folder, or a file
  std::filesystem::path part;
  std::filesystem::path output;
  bool copy = false;     // made beside the session's own trace, which stays
  bool replace = false;  // a file of that name that is not this session's trace
  Progress progress;
  // Asked when the trace is finalised, for what is known only then, such as what that took.
  std::function<MetaRows()> lastMeta = {};
};

// Finalises a trace whose rows are complete and gives it its name. `trace`: the only connection to
// the part. After an error, which says what to do, the part can be completed again.
Result<void> completeTrace(store::Database trace, const Completion& completion);

// The command that makes the trace after something went wrong.
std::string commandAgain(const Completion& completion);

// What an error of the trace's database means for the user, and what to do: what was recorded is
// still in `.part` and spool. The one is for a `.part` that could not be opened or made …
Error cannotWrite(const Error& error, const Completion& completion);
// … the other for one that was open.
Error cannotFinish(const Error& error, const Completion& completion);
// For a `.part` that has to be put back by hand.
Error damagedPart(const std::filesystem::path& part,
                  const std::string& why,
                  const Completion& completion);
// Whether the output is something that not even `replace` may replace: what, and what to do.
Result<void> checkName(const Completion& completion);
// A trace of its own is not to go in place of the file that is there.
Error outputExists(const std::filesystem::path& output);

// Whether there is a trace of this session; not so for a `.part` that was not written to yet.
bool isTraceOf(const std::filesystem::path& path, const std::string& session);

// Removes what is left of a session, whose lock is held. The manifest stays until the spool is
// gone: `sonde recover` then knows what the rest belongs to. The lock goes last: whoever makes it
// anew finds no manifest.
void deleteSession(const std::filesystem::path& folder);

}  // namespace sonde::recorder
