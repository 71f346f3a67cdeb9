#include "session/recorder_notes.h"

#include "collector/launcher/process_stat.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::session {

void RecorderNotes::add(ProcessFacts facts) {
  const bool gone = facts.image.execCount == ImageId::kLast;
  facts_.push_back({std::move(facts), gone});
  freshFacts_ = true;
}

Result<void> RecorderNotes::store(ImageSet& images, TraceRecorder& trace) {
  ingest::RowSink& sink = trace.sink();
  if (std::exchange(freshFacts_, false))
    storeFacts(images, sink);
  for (const auto& [key, value] : meta_)
    sink.add(model::Meta{key, value});
  for (const Loss& loss : losses_)
    sink.add(
        model::Loss{loss.probe, loss.kind, static_cast<std::int64_t>(loss.count), loss.reason, {}});
  for (const Warning& warning : warnings_)
    SONDE_TRY(trace.addWarning(warning.monotonicNs, warning.text));
  return {};
}

void RecorderNotes::storeFacts(ImageSet& images, ingest::RowSink& sink) {
  std::vector<Fact> waiting;
  for (Fact& fact : facts_) {
    if (images.store(fact.facts, sink)) {
      storedFacts_.push_back(std::move(fact));
    } else if (images.waiting() > 0) {
      waiting.push_back(std::move(fact));  // its image may be one of them
    } else if (!fact.gone) {
      const ImageId& image = fact.facts.image;
      fact.gone = !launcher::processAlive(image.pid, image.startTime);
      waiting.push_back(std::move(fact));
    }
  }
  facts_ = std::move(waiting);
}

void RecorderNotes::committed() {
  storedFacts_.clear();
  meta_.clear();
  losses_.clear();
  warnings_.clear();
}

void RecorderNotes::rolledBack() {
  std::move(storedFacts_.begin(), storedFacts_.end(), std::back_inserter(facts_));
  storedFacts_.clear();
  tryFactsAgain();
}

}  // namespace sonde::session
