#include "recorder/control/recording_status.h"

#include "analysis/ingest/rows/wire_words.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_name.h"
#include "base/file_place.h"
#include "recorder/spool/image_life.h"
#include "recorder/spool/session_page.h"
#include "recorder/spool_file/spool_reader.h"

#include <algorithm>
#include <set>
#include <system_error>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

// Adds the losses of closed images and of the recorder itself. Returns the spool files of those
// images, whose own counters are already included.
Result<std::set<std::string>> addStored(const fs::path& part,
                                        std::map<std::string, std::uint64_t>& lost) {
  SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(part));
  SONDE_TRY_ASSIGN(store::Statement losses,
                   trace.prepare("SELECT reason, sum(count) FROM loss GROUP BY reason"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, losses.step());
    if (!more)
      break;
    lost[std::string(losses.text(0))] += static_cast<std::uint64_t>(losses.integer(1));
  }
  std::set<std::string> closed;
  SONDE_TRY_ASSIGN(store::Statement images,
                   trace.prepare("SELECT spool FROM ingest_state WHERE kind = 'closed'"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, images.step());
    if (!more)
      return closed;
    closed.emplace(images.text(0));
  }
}

void addCounted(const SpoolReader& reader, std::map<std::string, std::uint64_t>& lost) {
  const LossTable table = reader.losses();
  for (const auto& kinds : table)
    for (const auto& reasons : kinds)
      for (std::size_t reason = 0; reason < reasons.size(); ++reason)
        if (reasons[reason] > 0)
          lost[std::string(ingest::lossWord(static_cast<wire::LossReason>(reason)))] +=
              reasons[reason];
  // The plugin's name is known only when the image is closed.
  for (const auto& calls : reader.pluginLosses())
    for (const auto& mistakes : calls)
      for (const std::uint64_t count : mistakes)
        if (count > 0)
          lost["plugin"] += count;
}

void readSpool(const fs::path& folder,
               const std::set<std::string>& closed,
               RecordingStatus& status) {
  std::error_code failure;
  std::set<std::pair<std::int32_t, std::uint64_t>> running;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() != ".spool")
      continue;
    const auto reader = SpoolReader::open(entry.path(), SpoolReader::Access::ReadOnly);
    if (!reader)
      continue;
    if (processRuns(reader->identity()))
      running.emplace(reader->identity().pid, reader->identity().startTime);
    if (!closed.contains(entry.path().filename()))
      addCounted(*reader, status.lost);
  }
  status.processes = static_cast<std::uint32_t>(running.size());
}

std::optional<RingStatus> ringOf(const RecorderWords& words) {
  if (words.lastNs.load() == 0)
    return std::nullopt;
  const std::int64_t kept = words.seenNs.load() - words.completeFromNs.load();
  return RingStatus{std::chrono::nanoseconds(words.lastNs.load()),
                    std::chrono::nanoseconds(std::max<std::int64_t>(kept, 0)),
                    words.discardedBytes.load()};
}

}  // namespace

Result<RecordingStatus> statusOf(const FoundRecording& recording) {
  SONDE_TRY_ASSIGN(const SessionPage page, SessionPage::open(recording.folder));
  const RecorderWords& words = page.words();
  RecordingStatus status;
  status.state = page.recording();
  status.since = std::chrono::nanoseconds(words.changedNs.load());
  status.recorderPid = recording.manifest.launcherPid;
  status.spoolBytes = page.allocatedBytes();
  status.spoolLimitBytes = page.limitBytes();
  status.output = recording.manifest.output;
  for (const fs::path& file : store::filesOf(recording.manifest.part))
    status.traceBytes += fileBytes(file);
  const auto closed = addStored(recording.manifest.part, status.lost);
  readSpool(recording.folder, closed ? *closed : std::set<std::string>(), status);
  if (const std::uint32_t refused = page.refusedImages(); refused > 0)
    status.lost["spool full"] += refused;
  status.ring = ringOf(words);
  return status;
}

}  // namespace sonde::recorder
