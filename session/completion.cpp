#include "session/completion.h"

#include "analysis/engine/merge/join_ranks.h"
#include "analysis/store/finaliser.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>
#include <vector>

namespace sonde::session {

namespace fs = std::filesystem;

namespace {

// Which endpoints are one connection, and which process is which member, shows once all are there.
Result<void> joinEnds(store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(trace));
  SONDE_TRY(engine::merge::matchChannels(trace));
  SONDE_TRY(engine::merge::joinCommunicators(trace));
  return transaction.commit();
}

}  // namespace

Result<void> completeTrace(store::Database trace, const fs::path& part, const fs::path& output) {
  SONDE_TRY(joinEnds(trace));
  SONDE_TRY(store::finalise(std::move(trace)));
  std::error_code failure;
  fs::rename(part, output, failure);
  if (failure)
    return Error{ErrorCode::Io,
                 fmt::format("{} could not be renamed to {}: {}",
                             part.string(),
                             output.string(),
                             failure.message())};
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
  for (const char* name : {"session", "lock", "manifest.json"})
    fs::remove(folder / name, ignored);
  fs::remove(folder, ignored);
  fs::remove(folder.parent_path(), ignored);  // fails, as it should, while there are other sessions
}

}  // namespace sonde::session
