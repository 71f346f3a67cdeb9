// The details panel's sections for events of a stream, and for a call that launched some.
#include "gui/trace/details_reader.h"
#include "gui/trace/time_format.h"

namespace sonde::gui {
namespace {

constexpr std::size_t kLaunchedRows = 12;

QString whereOf(const TrackInfo& track) {
  return track.detail.isEmpty() ? track.name : track.name + QStringLiteral(" ") + track.detail;
}

// "4.2 µs after the call returned", or before: a kernel may start while its call still runs.
QString delayOf(const Block& call, const Block& work) {
  const std::int64_t delay = work.startNs - call.startNs;
  const std::int64_t after = delay - call.durNs;
  QString text = formatDuration(delay) + QStringLiteral(" after the call began");
  if (call.durNs != Block::kOpen)
    text += after >= 0 ? QStringLiteral(", %1 after it ended").arg(formatDuration(after))
                       : QStringLiteral(", %1 before it ended").arg(formatDuration(-after));
  return text;
}

}  // namespace

void DetailsReader::addLaunch() {
  DetailsSection section{QStringLiteral("Launch"), {}};
  if (arrows_.from.empty()) {
    section.rows.emplace_back("Call", "not recorded");
  } else {
    const FoundEvent& call = arrows_.from.front();
    section.rows.emplace_back("Call", call.name);
    section.rows.emplace_back("Thread", whereOf(trackOf(call)));
    section.rows.emplace_back("Began", formatTime(call.block.startNs - skeleton_.originNs, 1));
    section.rows.emplace_back("Took", lengthOf(call.block));
    section.rows.emplace_back("Delay", delayOf(call.block, found_.block));
  }
  sections_.push_back(std::move(section));
}

void DetailsReader::addLaunched() {
  if (arrows_.to.empty())
    return;
  DetailsSection section{QStringLiteral("Launched"), {}};
  if (arrows_.toCount > 1)
    section.title += QStringLiteral(", %1 in all").arg(arrows_.toCount);
  for (const FoundEvent& event : arrows_.to) {
    if (section.rows.size() == kLaunchedRows)
      break;
    section.rows.emplace_back(event.name,
                              trackOf(event).name + QStringLiteral(", ") +
                                  formatDuration(event.block.durNs) + QStringLiteral(", ") +
                                  delayOf(found_.block, event.block));
  }
  const auto rest = arrows_.toCount - static_cast<std::int64_t>(section.rows.size());
  if (rest > 0)
    section.rows.emplace_back(QStringLiteral("and %1 more").arg(rest), QString());
  if (arrows_.toCount > static_cast<std::int64_t>(arrows_.to.size()))
    section.rows.emplace_back("Arrows",
                              QStringLiteral("only the first %1 are drawn").arg(arrows_.to.size()));
  sections_.push_back(std::move(section));
}

// The place of the launch: the scope, the slices around the call, the iteration.
Result<void> DetailsReader::addLaunchScope() {
  const std::int64_t id = found_.ref.id;
  const bool kernel = found_.ref.table == Table::Kernel;
  SONDE_TRY(addColumns("Scope",
                       kernel ? "SELECT n.text AS name, o.kind FROM kernel k JOIN slice o "
                                "ON o.id = k.scope_id JOIN string n ON n.id = o.name_id "
                                "WHERE k.id = ?1"
                              : "SELECT n.text AS name, o.kind FROM copy c JOIN slice o "
                                "ON o.id = c.scope_id JOIN string n ON n.id = o.name_id "
                                "WHERE c.id = ?1",
                       id));
  if (arrows_.from.empty())
    return {};
  const std::int64_t call = arrows_.from.front().ref.id;
  SONDE_TRY(addParents("Launched inside", call));
  return addIteration(call);
}

Result<void> DetailsReader::readKernel() {
  const std::int64_t id = found_.ref.id;
  SONDE_TRY(addColumns(
      "Kernel",
      "SELECT grid_x || ' × ' || grid_y || ' × ' || grid_z AS grid, "
      "block_x || ' × ' || block_y || ' × ' || block_z AS block, "
      "grid_x * grid_y * grid_z * block_x * block_y * block_z AS threads, "
      "registers, static_shared_bytes, dynamic_shared_bytes, "
      "local_bytes AS local_memory_bytes, bytes, CASE WHEN bytes > 0 AND dur_ns > 0 "
      "THEN printf('%.2f GB/s', 1.0 * bytes / dur_ns) END AS bandwidth, graph_id, graph_node_id "
      "FROM kernel WHERE id = ?1",
      id));
  addLaunch();
  SONDE_TRY(addLaunchScope());
  // The time window limits this to an index range: collectives have no index on kernel_id.
  SONDE_TRY(addColumns(
      "Collective",
      "SELECT c.op, c.bytes, c.send_bytes, c.recv_bytes, c.dtype, c.algorithm, c.protocol, c.seq, "
      "c.root, c.peer, c.wait_ns, c.transfer_ns, g.job_key AS communicator, g.size AS ranks, "
      "c.id AS collective_id FROM kernel k JOIN stream r ON r.id = k.stream_id JOIN collective c "
      "ON c.process_id = r.process_id AND c.start_ns BETWEEN k.start_ns - 10000000000 AND "
      "k.start_ns AND c.kernel_id = k.id LEFT JOIN communicator g ON g.id = c.communicator_id "
      "WHERE k.id = ?1",
      id));
  SONDE_TRY(addArguments("kernel", id));
  addProcess();
  return addColumns("Columns", "SELECT * FROM kernel WHERE id = ?1", id);
}

Result<void> DetailsReader::readCopy() {
  const std::int64_t id = found_.ref.id;
  SONDE_TRY(addColumns(
      "Copy",
      "SELECT replace(c.kind, '_', ' ') AS way, c.bytes, CASE WHEN c.bytes > 0 AND c.dur_ns > 0 "
      "THEN printf('%.2f GB/s', 1.0 * c.bytes / c.dur_ns) END AS bandwidth, "
      "CASE c.pinned WHEN 1 THEN 'pinned' WHEN 0 THEN 'pageable' END AS host_memory, "
      "d.kind || ' ' || d.ordinal AS other_device, c.graph_id, c.graph_node_id "
      "FROM copy c LEFT JOIN device d ON d.id = c.peer_device_id WHERE c.id = ?1",
      id));
  addLaunch();
  SONDE_TRY(addLaunchScope());
  SONDE_TRY(addArguments("copy", id));
  addProcess();
  return addColumns("Columns", "SELECT * FROM copy WHERE id = ?1", id);
}

Result<void> DetailsReader::readSync() {
  const std::int64_t id = found_.ref.id;
  SONDE_TRY(addColumns("Waits for",
                       "SELECT w.event_id, r.number AS stream, w.start_ns FROM sync y "
                       "JOIN sync w ON w.id = y.waits_for_id LEFT JOIN stream r "
                       "ON r.id = w.stream_id WHERE y.id = ?1",
                       id));
  addLaunch();
  if (!arrows_.from.empty())
    SONDE_TRY(addParents("Called inside", arrows_.from.front().ref.id));
  SONDE_TRY(addArguments("sync", id));
  addProcess();
  return addColumns("Columns", "SELECT * FROM sync WHERE id = ?1", id);
}

}  // namespace sonde::gui
