#include "recorder/recover/part_check.h"

#include "analysis/store/database.h"
#include "recorder/spool/session_page.h"

#include <fmt/format.h>

#include <string>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

using State = PartCheck::State;

// Its recorder was killed, or out of room, before the schema was written.
bool hasNoTables(const fs::path& part) {
  const auto file = store::Database::open(part, store::Access::ReadOnly);
  if (!file)
    return false;
  const auto tables = file->queryInteger("SELECT count(*) FROM sqlite_schema");
  return tables && *tables == 0;
}

// Another recording has finished: it may also have taken the unfinished trace's name.
bool outputIsOfAnother(const Session& session) {
  const auto output = stateOf(session.manifest->output);
  return output && output->session != session.folder.filename();
}

State stateOfPart(const Session& session) {
  const fs::path& part = session.manifest->part;
  std::error_code ignored;
  if (!fs::exists(part, ignored))
    return State::Absent;
  if (hasNoTables(part))
    return State::BegunAnew;
  const auto trace = stateOf(part);
  if (!trace || trace->session == session.folder.filename())
    return State::Own;
  return trace->session.empty() ? State::BegunAnew : State::OfAnother;
}

std::string whatHappened(const Session& session, State state) {
  const Manifest& manifest = *session.manifest;
  if (state == State::OfAnother)
    return fmt::format("the unfinished trace {} was replaced by another recording",
                       manifest.part.string());
  if (state == State::BegunAnew)
    return fmt::format("{} was started again", manifest.part.string());
  if (outputIsOfAnother(session))
    return fmt::format("{} is gone ({} belongs to another recording)",
                       manifest.part.string(),
                       manifest.output.string());
  return fmt::format("{} is gone", manifest.part.string());
}

// Nothing may be moved over a file that another recording writes.
std::string whatToDo(const Session& session, State state) {
  if (state == State::OfAnother)
    return "give -f to write the remaining records and count the others as lost";
  if (outputIsOfAnother(session))
    return "give -f to write a trace without them; if it was only moved, move it back there, with "
           "its -wal";
  return "move it back there, with its -wal, or give -f to write a trace without them";
}

}  // namespace

PartCheck checkPart(const Session& session) {
  PartCheck check;
  check.state = stateOfPart(session);
  if (check.state == State::Own)
    return check;
  if (const auto page = SessionPage::open(session.folder))
    check.recordsGone = page->givenBack();
  return check;
}

Error partGone(const Session& session, const PartCheck& check) {
  return {ErrorCode::NotFound,
          fmt::format("{}, with at least {} records that are no longer in the spool: {}",
                      whatHappened(session, check.state),
                      check.recordsGone,
                      whatToDo(session, check.state))};
}

}  // namespace sonde::recorder
