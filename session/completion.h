// The last steps of a recording, each of which may be killed and done again. Plain functions; one
// thread at a time.
#pragma once

#include "analysis/base/progress.h"
#include "analysis/base/result.h"
#include "analysis/store/database.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace sonde::session {

// Finalises a trace whose rows are complete and gives it its name. `trace`: the only connection to
// `part`. A file of that name that is not this session's trace is replaced only with `replace`;
// else the error says so and the part stays as it is.
Result<void> completeTrace(store::Database trace,
                           const std::filesystem::path& part,
                           const std::filesystem::path& output,
                           bool replace,
                           const Progress& progress);

// Adds to an error of no room what to do about it: `.part` and spool are still there. `advice`: the
// command that goes on.
Error withAdvice(Error error, const std::filesystem::path& part, std::string_view advice);

// Whether there is a trace of this session; not so for a `.part` that was not written to yet.
bool isTraceOf(const std::filesystem::path& path, const std::string& session);

// Removes what is left of a session, whose lock is held. The manifest stays until the spool is
// gone: `sonde recover` then knows what the rest belongs to. The lock goes last: whoever makes it
// anew finds no manifest.
void deleteSession(const std::filesystem::path& folder);

}  // namespace sonde::session
