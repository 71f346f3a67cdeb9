// Parses the events of a piece of JSON.
//
// Owned by one reader, on one thread. Its buffers are reused from piece to piece.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "base/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace sonde::ingest {

class EventParser {
 public:
  using Take = std::function<Result<void>(const TraceEvent&)>;

  EventParser();
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  struct Outcome {
    std::size_t taken = 0;        // events passed on, from the first on, and empty ones
    const char* wrong = nullptr;  // what is wrong with the next one; null: all were passed on
    bool badText = false;         // the text itself is bad: invalid UTF-8, or control characters
  };

  // Passes the events of `array` ("[…]", followed by JsonPieces::kPadding readable bytes) to
  // `take`, up to the first bad one. The texts of an event are valid until the next call. Fails if
  // `take` does.
  Result<Outcome> parse(std::string_view array, const Take& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::ingest
