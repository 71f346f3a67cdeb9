// The last steps of a recording, each of which may be killed and done again. Plain functions; one
// thread at a time.
#pragma once

#include "analysis/base/result.h"
#include "analysis/store/database.h"

#include <filesystem>

namespace sonde::session {

// Finalises a trace whose rows are complete and gives it its name. `trace`: the only connection to
// `part`.
Result<void> completeTrace(store::Database trace,
                           const std::filesystem::path& part,
                           const std::filesystem::path& output);

// Removes what is left of a session. The manifest goes last: as long as it is there, `sonde
// recover` knows what the rest belongs to.
void deleteSession(const std::filesystem::path& folder);

}  // namespace sonde::session
