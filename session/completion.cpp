#include "session/completion.h"

#include "analysis/base/shell_quote.h"
#include "analysis/engine/merge/join_ranks.h"
#include "analysis/engine/merge/transfer_collectives.h"
#include "analysis/store/finaliser.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>
#include <vector>

namespace sonde::session {

namespace fs = std::filesystem;

namespace {

// Which endpoints are one connection, which process is which member and which collective moved
// which bytes shows once all are there.
Result<void> joinEnds(store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(trace));
  SONDE_TRY(engine::merge::matchChannels(trace));
  SONDE_TRY(engine::merge::joinCommunicators(trace));
  SONDE_TRY(engine::merge::assignCollectives(trace));
  return transaction.commit();
}

Result<std::string> sessionOf(const store::Database& trace) {
  return trace.queryText("SELECT value FROM meta WHERE key = 'session'");
}

// The trace is complete without them: one that has no room for more is not held up.
void addLastMeta(const fs::path& part, const MetaRows& rows) {
  auto trace = store::Database::open(part, store::Access::ReadWrite);
  if (!trace)
    return;
  auto transaction = store::Transaction::begin(*trace);
  auto insert = trace->prepare("INSERT OR REPLACE INTO meta VALUES (?1, ?2)");
  if (!transaction || !insert)
    return;
  for (const auto& [key, value] : rows)
    if (!insert->bindAll(std::string_view(key), std::string_view(value)).run())
      return;
  (void)transaction->commit();
}

Error taken(const fs::path& part, const fs::path& output) {
  return {
      ErrorCode::Io,
      fmt::format("{0} exists and is not the trace of this recording, which stays in {1}: write "
                  "it elsewhere with sonde recover {2} -o OTHER, or give recover -f to replace "
                  "{0}",
                  output.string(),
                  part.string(),
                  shellQuoted(part.string()))};
}

}  // namespace

Error withAdvice(Error error, const fs::path& part, std::string_view again) {
  std::error_code failure;
  const bool advised = error.message.find("sonde recover") != std::string::npos;
  if (error.code == ErrorCode::NoSpace)
    error.message = fmt::format("{} has no room ({}): make some, then finish the trace with {}",
                                part.string(),
                                error.message,
                                again);
  else if (error.code == ErrorCode::Io && !advised && !fs::exists(part, failure))
    error.message = fmt::format(
        "{0} is not there any more ({1}): move it back, with its -wal, then "
        "finish the trace with {2}; or write what is left elsewhere with "
        "{2} -o OTHER -f",
        part.string(),
        error.message,
        again);
  else if (error.code == ErrorCode::Io && !advised)
    error.message = fmt::format(
        "{0} cannot be finished ({1}): when it can be written again, finish "
        "the trace with {2}, or write it elsewhere with {2} -o OTHER",
        part.string(),
        error.message,
        again);
  return error;
}

bool isTraceOf(const fs::path& path, const std::string& session) {
  std::error_code failure;
  if (!fs::exists(path, failure))
    return false;
  const auto trace = store::openTrace(path);
  if (!trace)
    return false;
  const auto found = sessionOf(*trace);
  return found && *found == session;
}

Result<void> completeTrace(store::Database trace, const Completion& completion) {
  const auto& [part, output, replace, progress, lastMeta] = completion;
  std::error_code failure;
  const auto session = sessionOf(trace);
  const bool own = session && isTraceOf(output, *session);
  if (!replace && !own && fs::exists(output, failure))
    return taken(part, output);
  progress("joining connections", 0);
  SONDE_TRY(joinEnds(trace));
  SONDE_TRY(store::finalise(std::move(trace), progress.part(0.1, 1)));
  if (lastMeta)
    addLastMeta(part, lastMeta());
  auto renamed = store::renameTrace(part, output, replace || own);
  if (!renamed && renamed.error().code == ErrorCode::InvalidArgument)
    return taken(part, output);
  return renamed;
}

void deleteSession(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> spools;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".spool" || entry.path().extension() == ".new")
      spools.push_back(entry.path());
  for (const fs::path& spool : spools)
    fs::remove(spool, ignored);
  for (const char* name : {"session", "manifest.json", "lock"})
    fs::remove(folder / name, ignored);
  fs::remove(folder, ignored);
  fs::remove(folder.parent_path(), ignored);  // fails, as it should, while there are other sessions
}

}  // namespace sonde::session
