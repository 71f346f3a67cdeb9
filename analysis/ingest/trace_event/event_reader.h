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
  // What a file holds is given here. Texts are valid during the call.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    virtual Result<void> event(const TraceEvent& event) = 0;
    // A member of the file's top level besides its events: its name and its JSON text.
    virtual Result<void> member(std::string_view key, std::string_view json) = 0;
    // After each piece of about a megabyte. Fails to end the reading.
    virtual void progress(std::uint64_t fileBytesRead) = 0;
  };

  explicit EventReader(ByteSource source);

  // Gives everything to `visitor`, and fails as it does. What is wrong with the file is in faults()
  // afterwards.
  Result<void> readAll(Visitor& visitor);

  const FileFaults& faults() const noexcept { return faults_; }
  // Where in the (inflated) file the event begins that is being given.
  std::uint64_t byteOf(const TraceEvent& event) const noexcept { return byteAt(event.place); }

 private:
  Result<void> readElements(const JsonPieces::Piece& piece, Visitor& visitor);
  Result<void> readOneByOne(std::string_view array, std::size_t skip, Visitor& visitor);
  std::string_view repaired(const JsonPieces::Piece& piece);
  std::uint64_t byteAt(std::size_t place) const noexcept;

  JsonPieces pieces_;
  EventParser parser_;
  TextRepair repair_;
  std::string single_;             // one event, as an array of its own
  std::uint64_t pieceOffset_ = 0;  // of the piece in the file
  std::size_t singleBegin_ = 0;    // of what is parsed, in the piece
  bool isRepaired_ = false;        // the piece is repair_'s
  FileFaults faults_;
};

}  // namespace sonde::ingest
