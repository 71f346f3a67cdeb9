#include "analysis/store/trace_writer.h"

#include "analysis/store/writer_state.h"

namespace sonde::store {

namespace {

template <typename Id>
constexpr Table kTableOf = Table::Count;
template <>
constexpr Table kTableOf<model::HostId> = Table::Host;
template <>
constexpr Table kTableOf<model::ProcessId> = Table::Process;
template <>
constexpr Table kTableOf<model::ThreadId> = Table::Thread;
template <>
constexpr Table kTableOf<model::DeviceId> = Table::Device;
template <>
constexpr Table kTableOf<model::StreamId> = Table::Stream;
template <>
constexpr Table kTableOf<model::SliceId> = Table::Slice;
template <>
constexpr Table kTableOf<model::KernelId> = Table::Kernel;
template <>
constexpr Table kTableOf<model::CopyId> = Table::Copy;
template <>
constexpr Table kTableOf<model::SyncId> = Table::Sync;
template <>
constexpr Table kTableOf<model::CollectiveId> = Table::Collective;

}  // namespace

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
  SONDE_TRY(state_->run(state_->statements->begin));
  state_->idsAtBegin = state_->nextIds;
  return state_->run(state_->statements->unfinish);
}

Result<void> TraceWriter::commit() {
  SONDE_TRY(state_->flushAll());
  return state_->run(state_->statements->commit);
}

bool TraceWriter::failed() const noexcept {
  return state_->failure.has_value();
}

const Error& TraceWriter::failure() const noexcept {
  return *state_->failure;
}

void TraceWriter::fail(const Error& error) {
  static_cast<void>(state_->noted(error));
}

Result<void> TraceWriter::foldLog() {
  SONDE_TRY(state_->database.queryInteger("PRAGMA wal_checkpoint(TRUNCATE)"));
  return {};
}

Result<void> TraceWriter::rollback() {
  for (RowBuffer& rows : state_->statements->inserts)
    rows.clear();
  if (state_->database.inTransaction())  // SQLite itself rolls back on a full disk
    SONDE_TRY(state_->database.exec("ROLLBACK"));
  state_->nextIds = state_->idsAtBegin;
  state_->failure.reset();
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

template <typename Id>
Id TraceWriter::reserveId() noexcept {
  return Id{state_->nextIds[static_cast<std::size_t>(kTableOf<Id>)]++};
}
template model::HostId TraceWriter::reserveId() noexcept;
template model::ProcessId TraceWriter::reserveId() noexcept;
template model::ThreadId TraceWriter::reserveId() noexcept;
template model::DeviceId TraceWriter::reserveId() noexcept;
template model::StreamId TraceWriter::reserveId() noexcept;
template model::SliceId TraceWriter::reserveId() noexcept;
template model::KernelId TraceWriter::reserveId() noexcept;
template model::CopyId TraceWriter::reserveId() noexcept;
template model::SyncId TraceWriter::reserveId() noexcept;
template model::CollectiveId TraceWriter::reserveId() noexcept;

Database& TraceWriter::database() {
  static_cast<void>(state_->flushAll());  // what fails is kept for commit()
  return state_->database;
}

Result<void> TraceWriter::reload() {
  SONDE_TRY(state_->flushAll());
  SONDE_TRY(state_->loadIds());
  return state_->loadStrings();
}

Result<Database> TraceWriter::release(TraceWriter writer) {
  if (writer.failed())
    return writer.failure();
  if (writer.state_->database.inTransaction())
    SONDE_TRY(writer.commit());
  writer.state_->statements.reset();
  return std::move(writer.state_->database);
}

Result<void> TraceWriter::update(const model::Process& row) {
  return state_->replace(Table::Process, *this, row);
}

Result<void> TraceWriter::update(const model::Thread& row) {
  return state_->replace(Table::Thread, *this, row);
}

Result<void> TraceWriter::update(const model::Device& row) {
  return state_->replace(Table::Device, *this, row);
}

Result<void> TraceWriter::update(const model::Stream& row) {
  return state_->replace(Table::Stream, *this, row);
}

Result<void> TraceWriter::update(const model::Allocation& row) {
  return state_->replace(Table::Allocation, *this, row);
}

Result<void> TraceWriter::update(const model::Iteration& row) {
  return state_->replace(Table::Iteration, *this, row);
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
  SONDE_TRY(state_->flush(Table::OpenScope));
  return state_->run(state_->statements->dropOpenScope.bindAll(spool, thread, token));
}

Result<void> TraceWriter::dropOpenCalls(model::ProcessId process) {
  SONDE_TRY(state_->flush(Table::OpenCall));
  return state_->run(state_->statements->dropOpenCalls.bindAll(process));
}

Result<void> TraceWriter::moveSlice(model::SliceId id, model::SliceId parent, std::int64_t depth) {
  SONDE_TRY(state_->flush(Table::Slice));
  return state_->run(state_->statements->moveSlice.bindAll(id, parent, depth));
}

Result<void> TraceWriter::endCollective(model::CollectiveId id, model::OptionalInt durNs) {
  SONDE_TRY(state_->flush(Table::Collective));
  return state_->run(state_->statements->endCollective.bindAll(id, durNs));
}

Result<void> TraceWriter::planCollective(model::CollectiveId id,
                                         model::OptionalText algorithm,
                                         model::OptionalText protocol) {
  SONDE_TRY(state_->flush(Table::Collective));
  return state_->run(state_->statements->planCollective.bindAll(id, algorithm, protocol));
}

}  // namespace sonde::store
