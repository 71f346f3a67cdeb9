// The last steps of a recording. Each may be killed and repeated. Plain functions; one thread at a
// time.
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
  std::filesystem::path spool;  // argument for `sonde recover`: a session's folder, or a file
  std::filesystem::path part;
  std::filesystem::path output;
  bool copy = false;     // made in addition to the session's own trace, which stays
  bool replace = false;  // may replace a file that is not this session's trace
  Progress progress;
  // Called when the trace is finalised, for values that are known only then, such as the duration
  // of that.
  std::function<MetaRows()> lastMeta = {};
};

// Finalises a trace whose rows are complete and gives it its name. `trace`: the only connection to
// the part. After an error, whose message says what to do, the part can be completed again.
Result<void> completeTrace(store::Database trace, const Completion& completion);

// The command that completes the trace after an error.
std::string commandAgain(const Completion& completion);

// Convert an error of the trace's database to a message with the consequences and the remedy: the
// recorded data is still in `.part` and spool. cannotWrite() is for a `.part` that could not be
// opened or created …
Error cannotWrite(const Error& error, const Completion& completion);
// … cannotFinish() for one that was open.
Error cannotFinish(const Error& error, const Completion& completion);
// For a `.part` that must be repaired by hand.
Error damagedPart(const std::filesystem::path& part,
                  const std::string& why,
                  const Completion& completion);
// Fails if the output may not be replaced even with `replace`; the error says what to do.
Result<void> checkName(const Completion& completion);
// The output exists and may not be replaced.
Error outputExists(const std::filesystem::path& output);

// Whether the file is a trace of this session; false for a `.part` that was not written to yet.
bool isTraceOf(const std::filesystem::path& path, const std::string& session);

// Deletes a session, whose lock the caller holds. The manifest stays until the spool is gone, so
// that `sonde recover` can identify the remaining files. The lock is deleted last: a process that
// creates it again finds no manifest.
void deleteSession(const std::filesystem::path& folder);

}  // namespace sonde::recorder
