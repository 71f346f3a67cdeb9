#include "recorder/calibrate/cuda_use.h"

#include "analysis/store/database.h"
#include "analysis/store/statement.h"
#include "recorder/spool/find_recording.h"
#include "recorder/spool/find_session.h"

#include <algorithm>
#include <system_error>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

constexpr char kUse[] = R"(
  SELECT a.value, (SELECT d.uuid FROM stream s JOIN device d ON d.id = s.device_id
                   WHERE s.process_id = a.owner_id AND d.uuid IS NOT NULL ORDER BY s.id LIMIT 1) AS gpu
  FROM string k CROSS JOIN arg a ON a.key_id = k.id
  WHERE k.text = 'sonde.cupti' AND a.owner = 'process' AND a.value GLOB '/*'
  ORDER BY gpu IS NULL, a.owner_id LIMIT 1)";

constexpr char kUsers[] =
    "SELECT 1 FROM stream s JOIN device d ON d.id = s.device_id WHERE d.uuid = ?1 LIMIT 1";

Result<bool> reads(const fs::path& part, std::string_view gpu) {
  SONDE_TRY_ASSIGN(store::Database trace, store::Database::open(part, store::Access::ReadOnly));
  SONDE_TRY(trace.exec("PRAGMA busy_timeout = 0"));
  SONDE_TRY_ASSIGN(store::Statement users, trace.prepare(kUsers));
  return users.bindAll(gpu).step();
}

// Does not wait for a locked trace: it is being finished, after its job. On Btrfs it is locked all
// the time; there it counts as a trace of a job that may use any GPU.
bool mayUse(const fs::path& part, std::string_view gpu, bool (*isLocked)(const fs::path&)) {
  const auto found = reads(part, gpu);
  return found ? *found : isLocked(part.parent_path());
}

}  // namespace

CudaUse cudaUseOf(const fs::path& part) {
  const auto trace = store::Database::open(part, store::Access::ReadOnly);
  auto rows = trace ? trace->prepare(kUse) : trace.error();
  if (!rows)
    return {};
  const auto found = rows->step();
  if (!found || !*found)
    return {};
  return {std::string(rows->text(0)), std::string(rows->text(1))};
}

bool anotherRecordingMayUse(const std::string& gpu,
                            const fs::path& own,
                            const std::vector<fs::path>& places,
                            bool (*isLocked)(const fs::path&)) {
  const std::vector<fs::path> folders = sessionFolders(places);
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    std::error_code ignored;
    if (fs::equivalent(folder, own, ignored))
      return false;
    const auto manifest = readManifest(folder);
    return manifest && launcherRuns(*manifest) && mayUse(manifest->part, gpu, isLocked);
  });
}

}  // namespace sonde::recorder
