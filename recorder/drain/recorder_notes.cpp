#include "recorder/drain/recorder_notes.h"

#include "recorder/launcher/process_stat.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::recorder {

void RecorderNotes::add(ProcessFacts facts) {
  const bool gone = facts.image.execCount == ImageId::kLast;
  pending_.facts.push_back({std::move(facts), gone});
  freshFacts_ = true;
}

void RecorderNotes::takeFrom(const RecorderNotes& other) {
  const Told& told = other.pending_;
  pending_.facts.insert(pending_.facts.end(), told.facts.begin(), told.facts.end());
  for (const auto& [key, value] : told.meta)
    pending_.meta[key] = value;
  pending_.losses.insert(pending_.losses.end(), told.losses.begin(), told.losses.end());
  pending_.costs.insert(pending_.costs.end(), told.costs.begin(), told.costs.end());
  pending_.notes.insert(pending_.notes.end(), told.notes.begin(), told.notes.end());
  tryFactsAgain();
}

void RecorderNotes::forgetEnded(const std::function<bool(const ImageId&)>& isKept) {
  std::erase_if(pending_.facts, [&](const Fact& fact) {
    const ImageId& image = fact.facts.image;
    return !isKept(image) && !launcher::processAlive(image.pid, image.startTime);
  });
}

Result<void> RecorderNotes::store(ImageSet& images, TraceRecorder& trace) {
  ingest::RowSink& sink = trace.sink();
  if (std::exchange(freshFacts_, false))
    storeFacts(images, sink);
  for (const auto& [key, value] : pending_.meta)
    sink.add(model::Meta{key, value});
  for (const Loss& loss : pending_.losses)
    sink.add(
        model::Loss{loss.probe, loss.kind, static_cast<std::int64_t>(loss.count), loss.reason, {}});
  for (const auto& cost : pending_.costs)
    sink.add(model::Overhead{.probe = cost.probe,
                             .api = cost.api,
                             .meanNs = cost.cost.sumNs(),
                             .errorNs = cost.errorNs,
                             .method = cost.method,
                             .beforeNs = cost.cost.beforeNs,
                             .insideNs = cost.cost.insideNs,
                             .unrecordedNs = cost.unrecordedNs});
  for (const Note& note : pending_.notes)
    SONDE_TRY(trace.addNote(note.severity, note.monotonicNs, note.text, note.source));
  return {};
}

void RecorderNotes::storeFacts(ImageSet& images, ingest::RowSink& sink) {
  std::vector<Fact> waiting;
  for (Fact& fact : pending_.facts) {
    if (images.store(fact.facts, sink)) {
      storedFacts_.push_back(std::move(fact));
    } else if (images.waiting() > 0) {
      waiting.push_back(std::move(fact));  // its image may be one of the unopened ones
    } else if (!fact.gone) {
      const ImageId& image = fact.facts.image;
      fact.gone = !launcher::processAlive(image.pid, image.startTime);
      waiting.push_back(std::move(fact));
    }
  }
  pending_.facts = std::move(waiting);
}

namespace {

template <typename T>
void moveTo(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
  from.clear();
}

}  // namespace

void RecorderNotes::committed() {
  wantsStacks_ = false;
  moveTo(committed_.facts, storedFacts_);
  pending_.meta.merge(committed_.meta);  // newer values stay
  committed_.meta = std::exchange(pending_.meta, {});
  moveTo(committed_.losses, pending_.losses);
  moveTo(committed_.costs, pending_.costs);
  moveTo(committed_.notes, pending_.notes);
  if (committed_.facts.size() >= forgetAt_)
    forgetEnded();
}

void RecorderNotes::rolledBack() {
  moveTo(pending_.facts, storedFacts_);
  tryFactsAgain();
}

void RecorderNotes::begunAnew() {
  moveTo(pending_.facts, committed_.facts);
  tryFactsAgain();
  pending_.meta.merge(committed_.meta);
  committed_.meta.clear();
  moveTo(pending_.losses, committed_.losses);
  moveTo(pending_.costs, committed_.costs);
  moveTo(pending_.notes, committed_.notes);
}

// A job may start any number of processes. Those that are over by then are in no trace that begins
// later.
void RecorderNotes::forgetEnded() {
  std::erase_if(committed_.facts, [](const Fact& fact) {
    return !launcher::processAlive(fact.facts.image.pid, fact.facts.image.startTime);
  });
  forgetAt_ = std::max(forgetAt_, 2 * committed_.facts.size());
}

}  // namespace sonde::recorder
