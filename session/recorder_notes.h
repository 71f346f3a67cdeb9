// What the recorder itself has to say, rather than the processes: facts about them, losses, rows of
// meta. Kept until the transaction that stores it has committed. Owned by the drainer, on its
// thread.
#pragma once

#include "analysis/ingest/row_sink.h"
#include "session/drainer.h"
#include "session/image_set.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::session {

class RecorderNotes {
 public:
  void add(ProcessFacts facts);
  void setMeta(const std::string& key, const std::string& value) { meta_[key] = value; }
  void addLoss(const std::string& probe,
               const std::string& kind,
               const std::string& reason,
               std::uint64_t count) {
    losses_.push_back({probe, kind, reason, count});
  }

  // Images are new: facts that came before them can be stored now.
  void tryFactsAgain() noexcept { freshFacts_ = !facts_.empty(); }
  bool pending() const noexcept { return freshFacts_ || !meta_.empty() || !losses_.empty(); }

  // Requires: a transaction.
  void store(ImageSet& images, ingest::RowSink& sink);
  void committed();
  void rolledBack();

 private:
  struct Loss {
    std::string probe;
    std::string kind;
    std::string reason;
    std::uint64_t count = 0;
  };

  std::vector<ProcessFacts> facts_;
  std::vector<ProcessFacts> storedFacts_;  // in the transaction that is open
  bool freshFacts_ = false;                // some of facts_ may be stored now
  std::map<std::string, std::string> meta_;
  std::vector<Loss> losses_;
};

}  // namespace sonde::session
