// Takes the events out of a piece of JSON.
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
    std::size_t taken = 0;        // events given, from the first on, and empty ones
    const char* wrong = nullptr;  // what is wrong with the next one; null: all were given
    bool badText = false;         // with the text as such: no UTF-8, or control characters in it
  };

  // Gives the events of `array` ("[…]", followed by JsonPieces::kPadding readable bytes) up to the
  // first one that is not as it should be. The texts of an event are valid until the next call.
  // Fails as `take` does.
  Result<Outcome> parse(std::string_view array, const Take& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::ingest
