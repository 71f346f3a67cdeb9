#include "session/recorder_notes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::session {

void RecorderNotes::add(ProcessFacts facts) {
  facts_.push_back(std::move(facts));
  freshFacts_ = true;
}

void RecorderNotes::store(ImageSet& images, ingest::RowSink& sink) {
  if (std::exchange(freshFacts_, false)) {
    const auto stored = std::stable_partition(facts_.begin(), facts_.end(), [&](const auto& facts) {
      return !images.store(facts, sink);
    });
    std::move(stored, facts_.end(), std::back_inserter(storedFacts_));
    facts_.erase(stored, facts_.end());
  }
  for (const auto& [key, value] : meta_)
    sink.add(model::Meta{key, value});
  for (const Loss& loss : losses_)
    sink.add(
        model::Loss{loss.probe, loss.kind, static_cast<std::int64_t>(loss.count), loss.reason, {}});
}

void RecorderNotes::committed() {
  storedFacts_.clear();
  meta_.clear();
  losses_.clear();
}

void RecorderNotes::rolledBack() {
  std::move(storedFacts_.begin(), storedFacts_.end(), std::back_inserter(facts_));
  storedFacts_.clear();
  tryFactsAgain();
}

}  // namespace sonde::session
