// The recorder's own notes, not the processes': facts about them, losses, warnings, rows of meta.
// Kept until the transaction that stores them has committed. Owned by the drainer, on its thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/ingest/rows/row_sink.h"
#include "recorder/drain/image_set.h"
#include "recorder/drain/process_facts.h"
#include "recorder/drain/trace_recorder.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::recorder {

class RecorderNotes {
 public:
  struct Note {
    model::Severity severity = model::Severity::Warning;
    std::int64_t monotonicNs = 0;
    std::string text;
    std::string source = "recorder";
  };

  void add(ProcessFacts facts);
  void setMeta(const std::string& key, const std::string& value) { pending_.meta[key] = value; }
  void addLoss(const std::string& probe,
               const std::string& kind,
               const std::string& reason,
               std::uint64_t count) {
    pending_.losses.push_back({probe, kind, reason, count});
  }

  // Measured costs of recording; rows of table overhead.
  void addCosts(const std::vector<engine::correction::MeasuredCost>& costs) {
    pending_.costs.insert(pending_.costs.end(), costs.begin(), costs.end());
  }

  void addNote(model::Severity severity, std::int64_t monotonicNs, std::string text) {
    addNote({severity, monotonicNs, std::move(text)});
  }
  void addNote(Note note) { pending_.notes.push_back(std::move(note)); }

  // The next drain stores the stacks of all threads that wait then.
  void wantStacks() noexcept { wantsStacks_ = true; }
  bool wantsStacks() const noexcept { return wantsStacks_; }

  // Copies the pending notes of another instance.
  void takeFrom(const RecorderNotes& other);
  // Forgets facts that wait for images of ended processes, unless `isKept` returns true.
  void forgetEnded(const std::function<bool(const ImageId&)>& isKept);

  // The number of facts that wait for their image.
  std::size_t waiting() const noexcept { return pending_.facts.size(); }
  // There are new images: facts that came before them may be stored now.
  void tryFactsAgain() noexcept { freshFacts_ = !pending_.facts.empty(); }
  bool pending() const noexcept {
    return freshFacts_ || !pending_.meta.empty() || !pending_.losses.empty() ||
           !pending_.costs.empty() || !pending_.notes.empty() || wantsStacks_;
  }

  // Requires: a transaction, and a scan since facts were added and since the last call.
  Result<void> store(ImageSet& images, TraceRecorder& trace);
  void committed();
  void rolledBack();
  // The trace with the stored notes is gone, and a new one was begun: stores them all again.
  void begunAnew();

 private:
  struct Fact {
    ProcessFacts facts;
    // Its process has ended; if the next scan does not find the image, it never comes.
    bool gone = false;
  };
  struct Loss {
    std::string probe;
    std::string kind;
    std::string reason;
    std::uint64_t count = 0;
  };
  void storeFacts(ImageSet& images, ingest::RowSink& sink);
  void forgetEnded();

  struct Told {
    std::vector<Fact> facts;
    std::map<std::string, std::string> meta;
    std::vector<Loss> losses;
    std::vector<engine::correction::MeasuredCost> costs;
    std::vector<Note> notes;
  };

  Told pending_;
  bool wantsStacks_ = false;
  std::vector<Fact> storedFacts_;  // in the open transaction
  bool freshFacts_ = false;        // some of pending_.facts may be stored now
  Told committed_;
  std::size_t forgetAt_ = 1024;  // number of committed_ facts
};

}  // namespace sonde::recorder
