#include "analysis/ingest/trace_event/event_reader.h"

#include "analysis/ingest/input/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::ingest {

EventReader::EventReader(ByteSource source) : pieces_(std::move(source), "traceEvents") {}

Result<void> EventReader::readAll(Visitor& visitor) {
  for (;;) {
    const auto piece = pieces_.next();
    if (!piece) {
      faults_.cutShort = piece.error().message;
      return {};
    }
    using Kind = JsonPieces::Piece::Kind;
    if (piece->kind == Kind::End)
      return {};
    SONDE_TRY(piece->kind == Kind::Member ? visitor.member(piece->key, repaired(*piece))
                                          : readElements(*piece, visitor));
    visitor.progress(pieces_.source().fileBytesRead());
  }
}

Result<void> EventReader::readElements(const JsonPieces::Piece& piece, Visitor& visitor) {
  const auto take = [&](const TraceEvent& event) { return visitor.event(event); };
  std::string_view text = piece.text;
  pieceOffset_ = piece.offset;
  singleBegin_ = 0;
  isRepaired_ = false;
  SONDE_TRY_ASSIGN(EventParser::Outcome outcome, parser_.parse(text, take));
  if (outcome.badText) {
    text = repaired(piece);
    SONDE_TRY_ASSIGN(outcome, parser_.parse(text, take));
  }
  if (outcome.wrong == nullptr)
    return {};
  return readOneByOne(text, outcome.taken, visitor);
}

std::string_view EventReader::repaired(const JsonPieces::Piece& piece) {
  repair_.repair(piece.text);
  if (repair_.replaced() == 0)
    return piece.text;
  isRepaired_ = true;
  if (faults_.repaired == 0)
    faults_.firstRepaired = piece.offset + repair_.first();
  faults_.repaired += repair_.replaced();
  return repair_.text();
}

std::uint64_t EventReader::byteAt(std::size_t place) const noexcept {
  const std::size_t inPiece = singleBegin_ + place;
  return pieceOffset_ + (isRepaired_ ? repair_.placeBefore(inPiece) : inPiece);
}

// Parses each event as a text of its own, so that a bad one does not affect others.
Result<void> EventReader::readOneByOne(std::string_view array, std::size_t skip, Visitor& visitor) {
  const auto take = [&](const TraceEvent& event) { return visitor.event(event); };
  JsonScanner scanner;
  std::size_t begin = 1;
  for (std::size_t index = 0; begin < array.size(); ++index) {
    scanner.reset();
    const auto found = scanner.scan(array.substr(begin), JsonScanner::Stop::AtComma);
    const std::size_t size = std::min({found.comma, found.end, array.size() - begin});
    if (index >= skip) {
      single_.assign("[").append(array, begin, size).append("]");
      const std::size_t length = single_.size();
      single_.append(JsonPieces::kPadding, ' ');
      singleBegin_ = begin - 1;  // its bracket is before the event
      SONDE_TRY_ASSIGN(const EventParser::Outcome outcome,
                       parser_.parse(std::string_view(single_).substr(0, length), take));
      if (outcome.wrong != nullptr && faults_.events++ == 0)
        faults_.first = fmt::format("the event at byte {}: {}", byteAt(1), outcome.wrong);
    }
    if (found.comma == JsonScanner::kNone)
      break;
    begin += size + 1;
  }
  return {};
}

}  // namespace sonde::ingest
