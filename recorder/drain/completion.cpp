#include "recorder/drain/completion.h"

#include "analysis/engine/calibration/assumed_costs.h"
#include "analysis/engine/merge/join_ranks.h"
#include "analysis/engine/merge/message_order.h"
#include "analysis/engine/merge/transfer_collectives.h"
#include "analysis/finalise/aborted_collectives.h"
#include "analysis/finalise/collective_kernels.h"
#include "analysis/finalise/device_calls.h"
#include "analysis/finalise/device_metrics.h"
#include "analysis/finalise/finaliser.h"
#include "analysis/ingest/spool/device_launches.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"
#include "base/shell_quote.h"
#include "recorder/calibrate/cost_loops.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>
#include <vector>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

// Joins calls with the work that they launched, endpoints with their connections, processes with
// members and collectives with bytes. That needs all rows.
Result<void> joinEnds(store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(trace));
  SONDE_TRY(ingest::placeDeviceCalls(trace));
  SONDE_TRY(ingest::joinLaunches(trace));
  SONDE_TRY(ingest::joinCollectiveKernels(trace));
  SONDE_TRY(ingest::markAbortedCollectives(trace));
  SONDE_TRY(ingest::placeDeviceMetrics(trace));
  SONDE_TRY(engine::merge::orderMessages(trace));
  SONDE_TRY(engine::merge::matchChannels(trace));
  SONDE_TRY(engine::merge::joinCommunicators(trace));
  SONDE_TRY(engine::merge::assignCollectives(trace));
  SONDE_TRY(engine::calibration::completeOverhead(trace));
  return transaction.commit();
}

Result<std::string> sessionOf(const store::Database& trace) {
  return trace.queryText("SELECT value FROM meta WHERE key = 'session'");
}

// The trace is complete without them; a trace without room for more is not held up.
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

std::string recoverCommand(const Completion& completion) {
  return "sonde recover " + shellQuoted(completion.spool.string());
}

Error taken(const Completion& completion) {
  if (completion.copy)
    return outputExists(completion.output);
  return {
      ErrorCode::Io,
      fmt::format("{0} exists and is not the trace of this recording, which stays in {1}: write "
                  "it elsewhere with {2} -o OTHER, or replace {0} with {2} -f",
                  completion.output.string(),
                  completion.part.string(),
                  recoverCommand(completion))};
}

Result<void> finaliseTrace(store::Database trace, const Progress& progress) {
  progress("joining connections", 0);
  SONDE_TRY(joinEnds(trace));
  return store::finalise(std::move(trace), progress.part(0.1, 1));
}

}  // namespace

std::string commandAgain(const Completion& completion) {
  std::string command = recoverCommand(completion);
  if (completion.copy)
    command += " -o " + shellQuoted(completion.output.string());
  return completion.replace ? command + " -f" : command;
}

Error damagedPart(const fs::path& part, const std::string& why, const Completion& completion) {
  Completion without = completion;
  without.replace = true;
  return {ErrorCode::Corrupt,
          fmt::format(
              "{} is damaged ({}): restore a copy of it, with its -wal, and finish the trace with "
              "{}; or move it away, and write a trace without the records that only it has with {}",
              part.string(),
              why,
              commandAgain(completion),
              commandAgain(without))};
}

Result<void> checkName(const Completion& completion) {
  if (const auto free = store::checkName(completion.output, true); !free)
    return Error{
        free.error().code,
        fmt::format("{} with {} -o OTHER", free.error().message, recoverCommand(completion))};
  return {};
}

Error outputExists(const fs::path& output) {
  return {ErrorCode::InvalidArgument,
          fmt::format("{} exists: name another file, or -f to replace it", output.string())};
}

Error cannotWrite(const Error& error, const Completion& completion) {
  const std::string part = completion.part.string();
  const std::string again = commandAgain(completion);
  if (error.code == ErrorCode::NoSpace)
    return {error.code,
            fmt::format("{} has no room ({}): free some space, then finish the trace with {}",
                        part,
                        error.message,
                        again)};
  if (error.code == ErrorCode::Corrupt)
    return damagedPart(completion.part, error.message, completion);
  if (completion.copy)
    return {
        error.code,
        fmt::format("{} cannot be written ({}): give another place with -o", part, error.message)};
  return {error.code,
          fmt::format("{0} cannot be written ({1}): make it writable and finish the trace with "
                      "{2}, or write it elsewhere with {2} -o OTHER",
                      part,
                      error.message,
                      again)};
}

Error cannotFinish(const Error& error, const Completion& completion) {
  std::error_code failure;
  if (completion.copy || error.code == ErrorCode::NoSpace || fs::exists(completion.part, failure))
    return cannotWrite(error, completion);
  return {error.code,
          fmt::format("{0} is gone ({1}): move it back, with its -wal, then finish the trace with "
                      "{2}; or write the remaining records elsewhere with {2} -o OTHER -f",
                      completion.part.string(),
                      error.message,
                      commandAgain(completion))};
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
  const fs::path& output = completion.output;
  std::error_code failure;
  const auto session = sessionOf(trace);
  const bool own = session && isTraceOf(output, *session);
  const bool replace = completion.replace || own;
  SONDE_TRY(checkName(completion));
  if (!replace && fs::exists(output, failure))
    return taken(completion);
  if (auto finalised = finaliseTrace(std::move(trace), completion.progress); !finalised)
    return cannotFinish(finalised.error(), completion);
  if (completion.lastMeta)
    addLastMeta(completion.part, completion.lastMeta());
  const auto renamed = store::renameTrace(completion.part, output, replace);
  if (!renamed && renamed.error().code == ErrorCode::InvalidArgument)
    return taken(completion);
  if (!renamed)
    return cannotFinish(renamed.error(), completion);
  return {};
}

void deleteSession(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> spools;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".spool" || entry.path().extension() == ".new")
      spools.push_back(entry.path());
  for (const fs::path& spool : spools)
    fs::remove(spool, ignored);
  for (const char* name : kCostFolders)
    fs::remove_all(folder / name, ignored);
  for (const char* name : {"session", "manifest.json", "lock"})
    fs::remove(folder / name, ignored);
  fs::remove(folder, ignored);
  fs::remove(folder.parent_path(), ignored);  // fails, as intended, while there are other sessions
}

}  // namespace sonde::recorder
