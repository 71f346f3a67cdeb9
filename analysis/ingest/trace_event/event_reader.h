// Reads a file of the Trace Event Format, event by event.
//
// Owned by one importer, on one thread. Memory does not grow with the file.
#pragma once

#include "analysis/base/result.h"
#include "analysis/ingest/imported_file.h"
#include "analysis/ingest/input/json_pieces.h"
#include "analysis/ingest/trace_event/event_fields.h"
#include "analysis/ingest/trace_event/event_parser.h"

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

 private:
  Result<void> readElements(const JsonPieces::Piece& piece, Visitor& visitor);
  Result<void> readOneByOne(std::string_view array,
                            std::uint64_t offset,
                            std::size_t skip,
                            Visitor& visitor);
  void repair(std::string_view text);

  JsonPieces pieces_;
  EventParser parser_;
  std::string repaired_;  // a piece without what no JSON text may hold
  std::string single_;    // one event, as an array of its own
  FileFaults faults_;
};

}  // namespace sonde::ingest
