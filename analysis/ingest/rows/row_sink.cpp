#include "analysis/ingest/rows/row_sink.h"

namespace sonde::ingest {

Result<RowSink> RowSink::open(store::TraceWriter& writer) {
  SONDE_TRY_ASSIGN(
      store::Statement setState,
      writer.database().prepare(
          "INSERT OR REPLACE INTO ingest_state(spool, kind, key, value) VALUES(?1, ?2, ?3, ?4)"));
  SONDE_TRY_ASSIGN(
      store::Statement getState,
      writer.database().prepare(
          "SELECT value FROM ingest_state WHERE spool = ?1 AND kind = ?2 AND key = ?3"));
  SONDE_TRY_ASSIGN(store::Statement dropState,
                   writer.database().prepare(
                       "DELETE FROM ingest_state WHERE spool = ?1 AND kind = ?2 AND key = ?3"));
  return RowSink(writer, std::move(setState), std::move(getState), std::move(dropState));
}

void RowSink::setState(std::string_view spool,
                       std::string_view kind,
                       std::int64_t key,
                       std::int64_t value) {
  if (!failed())
    check(setState_.bindAll(spool, kind, key, value).run());
}

void RowSink::setState(std::string_view spool,
                       std::string_view kind,
                       std::int64_t key,
                       std::string_view blob) {
  if (failed())
    return;
  setState_.bindAll(spool, kind, key);
  setState_.bindBlob(4, blob);
  check(setState_.run());
}

void RowSink::dropState(std::string_view spool, std::string_view kind, std::int64_t key) {
  if (!failed())
    check(dropState_.bindAll(spool, kind, key).run());
}

std::string RowSink::state(std::string_view spool, std::string_view kind, std::int64_t key) {
  std::string blob;
  if (failed())
    return blob;
  const Result<bool> found = getState_.bindAll(spool, kind, key).step();
  if (!found)
    writer_->fail(found.error());
  else if (*found)
    blob = getState_.text(0);
  getState_.reset();
  return blob;
}

}  // namespace sonde::ingest
