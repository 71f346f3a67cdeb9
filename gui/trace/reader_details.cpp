#include "gui/trace/reader_details.h"

#include "analysis/store/open_slice.h"
#include "gui/trace/details_reader.h"
#include "gui/trace/process_text.h"
#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <array>
#include <utility>

namespace sonde::gui {
namespace {

bool endsWith(const QString& column, const char* ending) {
  return column.endsWith(QLatin1String(ending));
}

// An imported event's original arguments: one JSON object, a row for each member.
void addMembers(DetailsSection& section, const QByteArray& json) {
  const QJsonObject members = QJsonDocument::fromJson(json).object();
  for (auto member = members.begin(); member != members.end(); ++member) {
    const QJsonValue value = member.value();
    QString text = value.toVariant().toString();
    if (value.isArray())
      text = QString::fromUtf8(QJsonDocument(value.toArray()).toJson(QJsonDocument::Compact));
    else if (value.isObject())
      text = QString::fromUtf8(QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact));
    section.rows.emplace_back(member.key(), text);
  }
}

}  // namespace

Result<std::vector<DetailsSection>> DetailsReader::read() {
  using Read = Result<void> (DetailsReader::*)();
  static constexpr std::array<Read, 5> kByTable = {&DetailsReader::readSlice,
                                                   &DetailsReader::readKernel,
                                                   &DetailsReader::readCopy,
                                                   &DetailsReader::readSync,
                                                   &DetailsReader::readTransfer};
  addSummary();
  SONDE_TRY((this->*kByTable.at(static_cast<std::size_t>(found_.ref.table)))());
  return std::move(sections_);
}

void DetailsReader::addSummary() {
  static constexpr std::array<const char*, 3> kWhere = {"Stream", "Thread", "Channel"};
  const Block& block = found_.block;
  const TrackInfo& track = trackOf(found_);
  const ProcessInfo& process = skeleton_.processes.at(static_cast<std::size_t>(track.process));
  const std::int64_t start = block.startNs - skeleton_.originNs;
  DetailsSection section{QStringLiteral("Event"), {}};
  section.rows.emplace_back("Name", found_.name);
  section.rows.emplace_back("Kind", wordOf(block.kind));
  section.rows.emplace_back("Start", formatTime(start, 1));
  if (block.durNs == Block::kOpen) {
    section.rows.emplace_back("Duration", lengthOf(block));
  } else {
    section.rows.emplace_back(
        "Duration", formatDuration(block.durNs) + "  (" + formatExactNs(block.durNs) + ")");
    section.rows.emplace_back("End", formatTime(start + block.durNs, 1));
  }
  section.rows.emplace_back(
      kWhere.at(static_cast<std::size_t>(track.owner)),
      track.detail.isEmpty() ? track.name : track.name + " (" + track.detail + ")");
  section.rows.emplace_back(
      "Process",
      (process.rank ? QStringLiteral("rank %1, ").arg(*process.rank) : QString()) +
          QStringLiteral("pid %1").arg(process.pid));
  sections_.push_back(std::move(section));
}

void DetailsReader::addProcess() {
  const auto process = static_cast<std::size_t>(trackOf(found_).process);
  sections_.push_back(detailsOf(skeleton_.processes.at(process), skeleton_.originNs));
}

QString DetailsReader::valueOf(const store::Statement& row, int column, const QString& name) const {
  if (row.columnType(column) == store::ColumnType::Integer) {
    const std::int64_t value = row.integer(column);
    if (name == QLatin1String("start_ns"))
      return QString::number(value);
    if (endsWith(name, "_ns"))
      return formatExactNs(value);
    if (endsWith(name, "bytes"))
      return value < 1024 ? formatBytes(value)
                          : formatBytes(value) + QStringLiteral("  (%1)").arg(value);
    return QString::number(value);
  }
  if (row.columnType(column) == store::ColumnType::Real)
    return QString::number(row.real(column), 'g', 12);
  return qtext(row.text(column));
}

Result<void> DetailsReader::addColumns(const QString& title, const char* sql, std::int64_t id) {
  SONDE_TRY_ASSIGN(auto rows, trace_.prepare(sql));
  rows.bindAll(id);
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    DetailsSection section{title, {}};
    for (int column = 0; column < rows.columnCount(); ++column) {
      if (rows.columnType(column) == store::ColumnType::Null)
        continue;
      const QString name = QString::fromStdString(rows.columnName(column));
      section.rows.emplace_back(name, valueOf(rows, column, name));
    }
    if (!section.rows.empty())
      sections_.push_back(std::move(section));
  }
}

Result<void> DetailsReader::readSlice() {
  const std::int64_t id = found_.ref.id;
  addLaunched();
  SONDE_TRY(addArguments("slice", id));
  SONDE_TRY(addColumns("Scope",
                       "SELECT n.text AS name, o.kind, s.scope_how AS how FROM slice s "
                       "JOIN slice o ON o.id = s.scope_id JOIN string n ON n.id = o.name_id "
                       "WHERE s.id = ?1",
                       id));
  SONDE_TRY(addCounters(id));
  SONDE_TRY(addParents("Inside", id));
  SONDE_TRY(addIteration(id));
  // The time window limits this to an index range: collectives have no index on slice_id.
  SONDE_TRY(addColumns("Collective",
                       "SELECT c.op, c.bytes, c.send_bytes, c.recv_bytes, c.dtype, c.algorithm, "
                       "c.protocol, c.seq, c.root, c.peer, c.wait_ns, c.transfer_ns, "
                       "g.job_key AS communicator, g.size AS ranks, c.id AS collective_id "
                       "FROM slice s JOIN thread t ON t.id = s.thread_id JOIN collective c "
                       "ON c.process_id = t.process_id AND c.start_ns = s.start_ns "
                       "AND c.slice_id = s.id LEFT JOIN communicator g ON g.id = c.communicator_id "
                       "WHERE s.id = ?1",
                       id));
  addProcess();
  return addColumns("Columns", "SELECT * FROM slice WHERE id = ?1", id);
}

Result<void> DetailsReader::addIteration(std::int64_t sliceId) {
  return addColumns("Iteration",
                    ("SELECT i.number, i.samples, i.tokens, i.flops FROM iteration i, "
                     "slice s JOIN thread t ON t.id = s.thread_id WHERE s.id = ?1 "
                     "AND i.process_id = t.process_id AND i.start_ns <= s.start_ns "
                     "AND coalesce(s.start_ns < i.start_ns + coalesce(i.dur_ns, " +
                     store::atMostSql("i.slice_id") + "), 1) ORDER BY i.start_ns DESC LIMIT 1")
                        .c_str(),
                    sliceId);
}

Result<void> DetailsReader::readTransfer() {
  const std::int64_t id = found_.ref.id;
  SONDE_TRY(
      addColumns("Transfer",
                 "SELECT direction, bytes, offset, CASE exact WHEN 1 THEN 'yes' ELSE 'no' END "
                 "AS offset_exact, step, tag FROM transfer WHERE id = ?1",
                 id));
  SONDE_TRY(addColumns("Other end",
                       "SELECT p.rank, p.pid, o.id AS channel_id FROM transfer t "
                       "JOIN channel c ON c.id = t.channel_id JOIN channel o ON o.id = "
                       "c.peer_channel_id JOIN process p ON p.id = o.process_id WHERE t.id = ?1",
                       id));
  SONDE_TRY(addColumns("Thread",
                       "SELECT h.name, h.tid FROM transfer t JOIN thread h ON h.id = t.thread_id "
                       "WHERE t.id = ?1",
                       id));
  SONDE_TRY(addColumns("Collective",
                       "SELECT c.op, c.bytes, c.seq, c.dtype FROM transfer t JOIN collective c "
                       "ON c.id = t.collective_id WHERE t.id = ?1",
                       id));
  SONDE_TRY(addColumns("Channel",
                       "SELECT c.* FROM transfer t JOIN channel c ON c.id = t.channel_id "
                       "WHERE t.id = ?1",
                       id));
  SONDE_TRY(addArguments("transfer", id));
  addProcess();
  return addColumns("Columns", "SELECT * FROM transfer WHERE id = ?1", id);
}

// A scope's hardware counters: sums over its stretches of time; other values are weighted by time.
Result<void> DetailsReader::addCounters(std::int64_t sliceId) {
  SONDE_TRY_ASSIGN(auto rows,
                   trace_.prepare("SELECT n.text, iif(n.text GLOB '*.sum', sum(m.value), "
                                  "sum(m.value * m.dur_ns) / sum(m.dur_ns)) FROM device_metric m "
                                  "JOIN string n ON n.id = m.name_id WHERE m.slice_id = ?1 AND "
                                  "m.value IS NOT NULL GROUP BY m.name_id ORDER BY 1"));
  rows.bindAll(sliceId);
  DetailsSection section{QStringLiteral("Hardware counters"), {}};
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const QString name = qtext(rows.text(0));
    section.rows.emplace_back(name, valueOf(rows, 1, name));
  }
  if (!section.rows.empty())
    sections_.push_back(std::move(section));
  return {};
}

Result<void> DetailsReader::addArguments(const char* owner, std::int64_t id) {
  SONDE_TRY_ASSIGN(
      auto rows,
      trace_.prepare("SELECT k.text, a.value FROM arg a JOIN string k ON k.id = a.key_id "
                     "WHERE a.owner = ?1 AND a.owner_id = ?2"));
  rows.bindAll(owner, id);
  DetailsSection section{QStringLiteral("Arguments"), {}};
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const QString key = qtext(rows.text(0));
    const bool imported = key == QLatin1String("args") && rows.text(1).starts_with('{');
    if (imported)
      addMembers(section, QByteArray(rows.text(1).data(), qsizetype(rows.text(1).size())));
    else
      section.rows.emplace_back(key, valueOf(rows, 1, key));
  }
  if (!section.rows.empty())
    sections_.push_back(std::move(section));
  return {};
}

Result<void> DetailsReader::addParents(const QString& title, std::int64_t id) {
  // The limit ends a chain that forms a circle in a damaged file.
  SONDE_TRY_ASSIGN(
      auto rows,
      trace_.prepare(
          "WITH RECURSIVE chain(id, level) AS (SELECT parent_id, 1 FROM slice WHERE id = ?1 "
          "UNION ALL SELECT s.parent_id, level + 1 FROM chain JOIN slice s ON s.id = chain.id "
          "WHERE level < 256) SELECT n.text, s.kind, s.dur_ns FROM chain "
          "JOIN slice s ON s.id = chain.id JOIN string n ON n.id = s.name_id ORDER BY level"));
  rows.bindAll(id);
  DetailsSection section{title, {}};
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    const auto dur = rows.optionalInteger(2);
    section.rows.emplace_back(qtext(rows.text(0)),
                              wordOf(kindOf(rows.text(1))) + ", " +
                                  (dur ? formatDuration(*dur) : QStringLiteral("did not end")));
  }
  if (!section.rows.empty())
    sections_.push_back(std::move(section));
  return {};
}

Result<std::vector<DetailsSection>> readDetails(const store::Database& trace,
                                                const Skeleton& skeleton,
                                                const FoundEvent& found,
                                                const Arrows& arrows) {
  return DetailsReader(trace, skeleton, found, arrows).read();
}

}  // namespace sonde::gui
