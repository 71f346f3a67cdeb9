#include "analysis/store/trace_writer.h"

#include "analysis/base/utf8.h"
#include "analysis/store/table_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

namespace sonde::store {
namespace {

struct TextHash {
  using is_transparent = void;  // find() takes views without making a string
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};
using StringIds = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;
using Ids = std::array<std::int64_t, static_cast<std::size_t>(Table::Count)>;

// A text of ours: known to be proper text, and alive until the row is stored.
struct Word {
  std::string_view text;
};

template <typename Enum>
Word wordOf(Enum value) noexcept {
  return Word{model::word(value)};
}

std::optional<Word> optionalWord(model::DataType type) noexcept {
  return type == model::DataType::Unknown ? std::nullopt : std::optional(wordOf(type));
}

void put(Statement& statement, int parameter, Word word) noexcept {
  statement.bindStaticText(parameter, word.text);
}

void put(Statement& statement, int parameter, std::string_view text) {
  if (isText(text))
    statement.bindStaticText(parameter, text);  // the row outlives the step
  else
    statement.bindText(parameter, toText(text));
}

template <typename T>
void put(Statement& statement, int parameter, const T& value) {
  statement.bind(parameter, value);
}

template <typename T>
void put(Statement& statement, int parameter, const std::optional<T>& value) {
  value ? put(statement, parameter, *value) : statement.bindNull(parameter);
}

void put(Statement& statement, int parameter, const model::ArgValue& value) {
  std::visit([&](const auto& held) { put(statement, parameter, held); }, value);
}

std::string insertSql(Table table, std::string_view verb) {
  const TableSpec& spec = specOf(table);
  std::string parameters = "?";
  for (auto left = std::count(spec.columns.begin(), spec.columns.end(), ','); left > 0; --left)
    parameters += ", ?";
  return fmt::format("{} INTO {}({}) VALUES ({})", verb, spec.name, spec.columns, parameters);
}

}  // namespace

struct TraceWriter::State {
  explicit State(Database trace) noexcept : database(std::move(trace)) {}

  Result<void> prepareAll();
  Result<void> loadIds();
  Result<void> loadStrings();

  template <typename... Values>
  Result<void> insert(Table table, const Values&... values) {
    Statement& statement = inserts[static_cast<std::size_t>(table)];
    int parameter = 0;
    (put(statement, ++parameter, values), ...);
    auto stepped = statement.step();
    if (!stepped)
      return std::move(stepped).error();
    return {};
  }

  // Adds a row with an id: `given`, or the next of the table.
  template <typename Id, typename... Values>
  Result<Id> insertWithId(Table table, Id given, const Values&... values) {
    std::int64_t& next = nextIds[static_cast<std::size_t>(table)];
    const Id id = given ? given : Id{next};
    SONDE_TRY(insert(table, id, values...));
    next = std::max(next, id.value + 1);
    return id;
  }

  Result<void> remove(Table table, std::int64_t id) {
    SONDE_TRY_ASSIGN(
        Statement statement,
        database.prepare(fmt::format("DELETE FROM {} WHERE id = ?", specOf(table).name)));
    return statement.bindAll(id).run();
  }

  Database database;
  StringIds strings;
  Ids nextIds{};
  Ids idsAtBegin{};
  std::vector<Statement> inserts;  // by Table
  std::optional<Statement> dropOpenScope;
  std::optional<Statement> unfinish;
};

Result<void> TraceWriter::State::prepareAll() {
  for (std::size_t i = 0; i < kTables.size(); ++i) {
    const auto table = static_cast<Table>(i);
    const bool keyed = table == Table::Meta || table == Table::Ingested ||
                       table == Table::OpenScope || table == Table::ClockMap ||
                       table == Table::CommunicatorMember;
    SONDE_TRY_ASSIGN(Statement insert,
                     database.prepare(insertSql(table, keyed ? "INSERT OR REPLACE" : "INSERT")));
    inserts.push_back(std::move(insert));
  }
  SONDE_TRY_ASSIGN(
      dropOpenScope,
      database.prepare("DELETE FROM open_scope WHERE spool = ? AND thread_id = ? AND token = ?"));
  SONDE_TRY_ASSIGN(unfinish, database.prepare("DELETE FROM meta WHERE key = 'finished'"));
  return {};
}

Result<void> TraceWriter::State::loadIds() {
  for (std::size_t i = 0; i < kTables.size(); ++i) {
    if (!kTables[i].hasId())
      continue;
    SONDE_TRY_ASSIGN(
        const std::int64_t last,
        database.queryInteger(fmt::format("SELECT coalesce(max(id), 0) FROM {}", kTables[i].name)));
    nextIds[i] = std::max(nextIds[i], last + 1);
  }
  SONDE_TRY_ASSIGN(const std::int64_t open,
                   database.queryInteger("SELECT coalesce(max(slice_id), 0) FROM open_scope"));
  auto& nextSlice = nextIds[static_cast<std::size_t>(Table::Slice)];
  nextSlice = std::max(nextSlice, open + 1);
  return {};
}

Result<void> TraceWriter::State::loadStrings() {
  SONDE_TRY_ASSIGN(Statement all, database.prepare("SELECT id, text FROM string ORDER BY id"));
  strings.clear();
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, all.step());
    if (!row)
      return {};
    strings.emplace(all.text(1), all.integer(0));
  }
}

Result<TraceWriter> TraceWriter::open(Database trace) {
  auto state = std::make_unique<State>(std::move(trace));
  SONDE_TRY(state->prepareAll());
  SONDE_TRY(state->loadIds());
  SONDE_TRY(state->loadStrings());
  return TraceWriter(std::move(state));
}

TraceWriter::TraceWriter(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;  // closing a connection rolls back

Result<void> TraceWriter::begin() {
  SONDE_TRY(state_->database.exec("BEGIN IMMEDIATE"));
  state_->idsAtBegin = state_->nextIds;
  return state_->unfinish->run();
}

Result<void> TraceWriter::commit() {
  return state_->database.exec("COMMIT");
}

Result<void> TraceWriter::rollback() {
  if (state_->database.inTransaction())  // SQLite itself rolls back on a full disk
    SONDE_TRY(state_->database.exec("ROLLBACK"));
  state_->nextIds = state_->idsAtBegin;
  const std::int64_t firstNew = state_->nextIds[static_cast<std::size_t>(Table::String)];
  std::erase_if(state_->strings,
                [firstNew](const auto& entry) { return entry.second >= firstNew; });
  return {};
}

Result<model::StringId> TraceWriter::intern(std::string_view text) {
  if (const auto known = state_->strings.find(text); known != state_->strings.end())
    return model::StringId{known->second};
  if (!isText(text))
    return intern(toText(text));
  SONDE_TRY_ASSIGN(const model::StringId id,
                   state_->insertWithId(Table::String, model::StringId{}, text));
  state_->strings.emplace(text, id.value);
  return id;
}

model::SliceId TraceWriter::reserveSliceId() noexcept {
  return model::SliceId{state_->nextIds[static_cast<std::size_t>(Table::Slice)]++};
}

Database& TraceWriter::database() noexcept {
  return state_->database;
}

Result<void> TraceWriter::reload() {
  SONDE_TRY(state_->loadIds());
  return state_->loadStrings();
}

Result<Database> TraceWriter::release(TraceWriter writer) {
  if (writer.state_->database.inTransaction())
    SONDE_TRY(writer.commit());
  writer.state_->inserts.clear();
  writer.state_->dropOpenScope.reset();
  writer.state_->unfinish.reset();
  return std::move(writer.state_->database);
}

// Columns in the order of table_spec.h.

Result<void> TraceWriter::add(const model::Meta& row) {
  return state_->insert(Table::Meta, row.key, row.value);
}

Result<model::HostId> TraceWriter::add(const model::Host& row) {
  return state_->insertWithId(Table::Host,
                              row.id,
                              row.name,
                              row.bootId,
                              row.os,
                              row.cpuModel,
                              row.cpuCount,
                              row.memoryBytes);
}

Result<model::ProcessId> TraceWriter::add(const model::Process& row) {
  return state_->insertWithId(Table::Process,
                              row.id,
                              row.hostId,
                              row.pid,
                              row.parentId,
                              row.rank,
                              row.localRank,
                              row.worldSize,
                              row.command,
                              row.startNs,
                              row.endNs,
                              row.exitStatus,
                              row.exitSignal,
                              wordOf(row.state),
                              row.pidNamespace,
                              row.startTime,
                              row.execCount,
                              row.cpuNs);
}

Result<model::ThreadId> TraceWriter::add(const model::Thread& row) {
  return state_->insertWithId(
      Table::Thread, row.id, row.processId, row.tid, row.name, row.startNs, row.endNs);
}

Result<model::DeviceId> TraceWriter::add(const model::Device& row) {
  return state_->insertWithId(Table::Device,
                              row.id,
                              row.hostId,
                              row.kind,
                              row.ordinal,
                              row.name,
                              row.uuid,
                              row.memoryBytes);
}

Result<model::StreamId> TraceWriter::add(const model::Stream& row) {
  return state_->insertWithId(
      Table::Stream, row.id, row.processId, row.deviceId, row.number, row.name, row.priority);
}

Result<void> TraceWriter::add(const model::ClockSync& row) {
  return state_->insert(
      Table::ClockSync, row.hostId, row.processId, row.ticks, row.monotonicNs, row.realtimeNs);
}

Result<void> TraceWriter::add(const model::ClockMap& row) {
  return state_->insert(
      Table::ClockMap, row.hostId, row.fromNs, row.offsetNs, row.driftPpb, row.errorNs);
}

Result<void> TraceWriter::add(const model::Mapping& row) {
  return state_->insert(Table::Mapping,
                        row.processId,
                        row.start,
                        row.end,
                        row.fileOffset,
                        row.pathId,
                        row.buildId,
                        row.fromNs);
}

Result<model::SliceId> TraceWriter::add(const model::Slice& row) {
  return state_->insertWithId(Table::Slice,
                              row.id,
                              row.threadId,
                              wordOf(row.kind),
                              Word{row.category},
                              row.nameId,
                              row.startNs,
                              row.durNs,
                              row.parentId,
                              row.depth,
                              row.lane,
                              row.scopeId,
                              wordOf(row.scopeHow),
                              row.correlationId,
                              row.stackId);
}

Result<void> TraceWriter::add(const model::Arg& row) {
  return state_->insert(Table::Arg, wordOf(row.owner), row.ownerId, row.keyId, row.value);
}

Result<void> TraceWriter::add(const model::Link& row) {
  return state_->insert(
      Table::Link, row.kind, wordOf(row.fromOwner), row.fromId, wordOf(row.toOwner), row.toId);
}

Result<model::CommunicatorId> TraceWriter::add(const model::Communicator& row) {
  return state_->insertWithId(
      Table::Communicator, row.id, row.processId, row.jobKey, row.size, row.position, row.backend);
}

Result<void> TraceWriter::add(const model::CommunicatorMember& row) {
  return state_->insert(
      Table::CommunicatorMember, row.communicatorId, row.position, row.rank, row.processId);
}

Result<model::CollectiveId> TraceWriter::add(const model::Collective& row) {
  return state_->insertWithId(Table::Collective,
                              row.id,
                              row.processId,
                              row.communicatorId,
                              row.seq,
                              wordOf(row.op),
                              row.algorithm,
                              row.protocol,
                              optionalWord(row.dtype),
                              row.bytes,
                              row.sendBytes,
                              row.recvBytes,
                              row.root,
                              row.peer,
                              row.sliceId,
                              row.kernelId,
                              row.startNs,
                              row.durNs,
                              row.waitNs,
                              row.transferNs);
}

Result<model::ChannelId> TraceWriter::add(const model::Channel& row) {
  return state_->insertWithId(Table::Channel,
                              row.id,
                              row.processId,
                              wordOf(row.kind),
                              row.local,
                              row.remote,
                              row.peerChannelId,
                              row.inherited,
                              row.openNs);
}

Result<model::TransferId> TraceWriter::add(const model::Transfer& row) {
  return state_->insertWithId(Table::Transfer,
                              row.id,
                              row.channelId,
                              row.threadId,
                              wordOf(row.direction),
                              row.offset,
                              row.bytes,
                              row.exact,
                              row.startNs,
                              row.durNs,
                              row.collectiveId,
                              row.step,
                              row.tag);
}

Result<model::IterationId> TraceWriter::add(const model::Iteration& row) {
  return state_->insertWithId(Table::Iteration,
                              row.id,
                              row.processId,
                              row.number,
                              row.startNs,
                              row.durNs,
                              row.probeMask,
                              row.samples,
                              row.tokens,
                              row.flops,
                              row.sliceId);
}

Result<void> TraceWriter::add(const model::Scalar& row) {
  return state_->insert(
      Table::Scalar, row.processId, row.iteration, row.nameId, row.value, row.tsNs);
}

Result<model::CounterId> TraceWriter::add(const model::Counter& row) {
  return state_->insertWithId(
      Table::Counter, row.id, row.hostId, row.processId, row.deviceId, row.nameId, row.unit);
}

Result<void> TraceWriter::add(const model::Sample& row) {
  return state_->insert(Table::Sample, row.counterId, row.tsNs, row.value);
}

Result<void> TraceWriter::add(const model::Overhead& row) {
  return state_->insert(Table::Overhead,
                        row.probe,
                        row.api,
                        row.meanNs,
                        row.errorNs,
                        row.n,
                        row.method,
                        row.processId);
}

Result<void> TraceWriter::add(const model::ProbeCall& row) {
  return state_->insert(Table::ProbeCall,
                        row.threadId,
                        row.iterationId,
                        row.probe,
                        row.api,
                        row.recorded,
                        row.unrecorded);
}

Result<void> TraceWriter::add(const model::Loss& row) {
  return state_->insert(Table::Loss, row.probe, row.kind, row.count, row.reason, row.processId);
}

Result<model::NoteId> TraceWriter::add(const model::Note& row) {
  return state_->insertWithId(
      Table::Note, row.id, row.tsNs, row.processId, wordOf(row.severity), row.source, row.text);
}

Result<void> TraceWriter::update(const model::Process& row) {
  SONDE_TRY(state_->remove(Table::Process, row.id.value));
  SONDE_TRY(add(row));
  return {};
}

Result<void> TraceWriter::update(const model::Thread& row) {
  SONDE_TRY(state_->remove(Table::Thread, row.id.value));
  SONDE_TRY(add(row));
  return {};
}

Result<void> TraceWriter::update(const model::Iteration& row) {
  SONDE_TRY(state_->remove(Table::Iteration, row.id.value));
  SONDE_TRY(add(row));
  return {};
}

Result<void> TraceWriter::set(const model::Ingested& row) {
  return state_->insert(Table::Ingested, row.spool, row.seq, row.consumed);
}

Result<void> TraceWriter::set(const model::OpenScope& row) {
  const model::Slice& slice = row.slice;
  return state_->insert(Table::OpenScope,
                        row.spool,
                        row.token,
                        slice.id,
                        slice.threadId,
                        wordOf(slice.kind),
                        Word{slice.category},
                        slice.nameId,
                        slice.startNs,
                        slice.parentId,
                        slice.depth,
                        slice.lane,
                        slice.scopeId,
                        wordOf(slice.scopeHow));
}

Result<void> TraceWriter::dropOpenScope(std::string_view spool,
                                        model::ThreadId thread,
                                        std::int64_t token) {
  return state_->dropOpenScope->bindAll(spool, thread, token).run();
}

}  // namespace sonde::store
