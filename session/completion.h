// The last steps of a recording, each of which may be killed and done again. Plain functions; one
// thread at a time.
#pragma once

#include "analysis/base/progress.h"
#include "analysis/base/result.h"
#include "analysis/store/database.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sonde::session {

// Rows of table meta.
using MetaRows = std::map<std::string, std::string>;

struct Completion {
  std::filesystem::path part;
  std::filesystem::path output;
  bool replace = false;  // a file of that name that is not this session's trace
  Progress progress;
  // Asked when the trace is finalised, for what is known only then, such as what that took.
  std::function<MetaRows()> lastMeta = {};
};

// Finalises a trace whose rows are complete and gives it its name. `trace`: the only connection to
// the part. Where it may not replace what has the name, the error says so and the part stays as it
// is.
Result<void> completeTrace(store::Database trace, const Completion& completion);

// Adds to an error of the system (no room, a folder that is gone) what to do about it: what was
// recorded is still in `.part` and spool. `again`: the command that goes on.
Error withAdvice(Error error, const std::filesystem::path& part, std::string_view again);

// Whether there is a trace of this session; not so for a `.part` that was not written to yet.
bool isTraceOf(const std::filesystem::path& path, const std::string& session);

// Removes what is left of a session, whose lock is held. The manifest stays until the spool is
// gone: `sonde recover` then knows what the rest belongs to. The lock goes last: whoever makes it
// anew finds no manifest.
void deleteSession(const std::filesystem::path& folder);

}  // namespace sonde::session
