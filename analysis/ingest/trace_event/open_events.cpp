#include "analysis/ingest/trace_event/open_events.h"

namespace sonde::ingest {

const std::string& OpenEvents::keyOf(const TraceEvent& event) {
  const bool asynchronous = event.phase == 'b' || event.phase == 'e';
  key_.assign(1, asynchronous ? 'b' : 'B').append(asynchronous ? event.category : event.pid.text);
  key_.append(1, '\n').append(asynchronous ? event.id.text : event.tid.text);
  if (asynchronous && event.idIsLocal)
    key_.append(1, '\n').append(event.pid.text);
  return key_;
}

void OpenEvents::begin(const TraceEvent& event, const OpenEvent& open) {
  open_[keyOf(event)].push_back(open);
}

std::optional<OpenEvent> OpenEvents::end(const TraceEvent& event) {
  const auto found = open_.find(keyOf(event));
  if (found == open_.end())
    return {};
  const OpenEvent ended = found->second.back();
  found->second.pop_back();
  if (found->second.empty())
    open_.erase(found);
  return ended;
}

std::optional<OpenEvent> OpenEvents::takeAny() {
  if (open_.empty())
    return {};
  const auto any = open_.begin();
  const OpenEvent left = any->second.back();
  any->second.pop_back();
  if (any->second.empty())
    open_.erase(any);
  return left;
}

}  // namespace sonde::ingest
