// Events that begin and end in records of their own (B and E, b and e), while they are open. Owned
// by one importer, on one thread; memory grows with what is open at once.
#pragma once

#include "analysis/ingest/imported_places.h"
#include "analysis/ingest/trace_event/event_fields.h"
#include "analysis/model/event.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::ingest {

struct OpenEvent {
  model::Slice row{};  // `category` outlives it
  ImportedPlaces::Track track{};
  OptionalNumber iteration{};  // its number, if it is one
  bool hasArgs = false;
};

class OpenEvents {
 public:
  void begin(const TraceEvent& event, const OpenEvent& open);
  // The one that this event ends: the innermost of its thread or, of asynchronous ones, of its
  // category and id. None: it was not begun.
  std::optional<OpenEvent> end(const TraceEvent& event);
  // One that never ended; none: there are no more.
  std::optional<OpenEvent> takeAny();

 private:
  const std::string& keyOf(const TraceEvent& event);

  std::unordered_map<std::string, std::vector<OpenEvent>> open_;
  std::string key_;
};

}  // namespace sonde::ingest
