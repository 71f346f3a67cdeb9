// Reads a file of the Trace Event Format, event by event.
//
// Owned by one importer, on one thread. Memory does not grow with the file.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/input/json_pieces.h"
#include "analysis/ingest/trace_event/event_parser.h"
#include "analysis/ingest/trace_event/text_repair.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::ingest {

class EventReader {
 public:
  // Receives the content of a file. Texts are valid during the call.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    virtual Result<void> event(const TraceEvent& event) = 0;
    // A member of the file's top level other than the events: its name and its JSON text.
    virtual Result<void> member(std::string_view key, std::string_view json) = 0;
    // Called after each piece of about a megabyte.
    virtual void progress(std::uint64_t fileBytesRead) = 0;
  };

  explicit EventReader(ByteSource source);

  // Passes everything to `visitor`, and fails if it does. faults() then has what is wrong with the
  // file.
  Result<void> readAll(Visitor& visitor);

  const FileFaults& faults() const noexcept { return faults_; }
  // Where the current event begins in the (inflated) file.
  std::uint64_t byteOf(const TraceEvent& event) const noexcept { return byteAt(event.place); }

 private:
  Result<void> readElements(const JsonPieces::Piece& piece, Visitor& visitor);
  Result<void> readOneByOne(std::string_view array, std::size_t skip, Visitor& visitor);
  std::string_view repaired(const JsonPieces::Piece& piece);
  std::uint64_t byteAt(std::size_t place) const noexcept;

  JsonPieces pieces_;
  EventParser parser_;
  TextRepair repair_;
  std::string single_;             // one event, as an array
  std::uint64_t pieceOffset_ = 0;  // of the piece in the file
  std::size_t singleBegin_ = 0;    // of the parsed text, in the piece
  bool isRepaired_ = false;        // the piece is repair_'s
  FileFaults faults_;
};

}  // namespace sonde::ingest
