#include "analysis/store/trace_writer.h"

#include "analysis/store/writer_state.h"

namespace sonde::store {

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
  const std::int64_t firstNew = state_->nextIds[AllRows::indexOf<model::String>()];
  std::erase_if(state_->strings,
                [firstNew](const auto& entry) { return entry.second >= firstNew; });
  return {};
}

Result<model::StringId> TraceWriter::intern(std::string_view text) {
  if (const auto known = state_->strings.find(text); known != state_->strings.end())
    return model::StringId{known->second};
  if (!isText(text))
    return intern(toText(text));
  SONDE_TRY_ASSIGN(const model::StringId id, state_->add(model::String{.text = text}));
  state_->strings.emplace(text, id.value);
  return id;
}

template <typename Id>
Id TraceWriter::reserveId() noexcept {
  return Id{state_->nextIds[AllRows::indexOfIds<Id>()]++};
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
  static_cast<void>(state_->flushAll());  // commit() reports a failure
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

template <typename Row>
Added<Row> TraceWriter::add(const Row& row) {
  return state_->add(row);
}
#define SONDE_ADD(Row) template Added<model::Row> TraceWriter::add(const model::Row&);
SONDE_ROWS(SONDE_ADD)
#undef SONDE_ADD

template <typename Row>
Result<void> TraceWriter::update(const Row& row) {
  return state_->replace(row);
}
template Result<void> TraceWriter::update(const model::Process&);
template Result<void> TraceWriter::update(const model::Thread&);
template Result<void> TraceWriter::update(const model::Device&);
template Result<void> TraceWriter::update(const model::Stream&);
template Result<void> TraceWriter::update(const model::Allocation&);
template Result<void> TraceWriter::update(const model::Iteration&);

Result<void> TraceWriter::dropOpenScope(std::string_view spool,
                                        model::ThreadId thread,
                                        std::int64_t token) {
  SONDE_TRY(state_->flush<model::OpenScope>());
  return state_->run(state_->statements->dropOpenScope.bindAll(spool, thread, token));
}

Result<void> TraceWriter::dropOpenCalls(model::ProcessId process) {
  SONDE_TRY(state_->flush<model::OpenCall>());
  return state_->run(state_->statements->dropOpenCalls.bindAll(process));
}

Result<void> TraceWriter::moveSlice(model::SliceId id, model::SliceId parent, std::int64_t depth) {
  SONDE_TRY(state_->flush<model::Slice>());
  return state_->run(state_->statements->moveSlice.bindAll(id, parent, depth));
}

Result<void> TraceWriter::endCollective(model::CollectiveId id, model::OptionalInt durNs) {
  SONDE_TRY(state_->flush<model::Collective>());
  return state_->run(state_->statements->endCollective.bindAll(id, durNs));
}

Result<void> TraceWriter::planCollective(model::CollectiveId id,
                                         model::OptionalText algorithm,
                                         model::OptionalText protocol) {
  SONDE_TRY(state_->flush<model::Collective>());
  return state_->run(state_->statements->planCollective.bindAll(id, algorithm, protocol));
}

}  // namespace sonde::store
