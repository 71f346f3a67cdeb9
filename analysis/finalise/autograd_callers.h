// Which thread called the backward pass that a thread of autograd's works for, where no slice of
// kind backward says so: in files of torch.profiler. Within analysis/store; plain values once read.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace sonde::store {

class AutogradCallers {
 public:
  // A thread works for autograd when what stands alone on it is `autograd::engine::
  // evaluate_function: …`, the end of a `fwdbwd` link from another thread, or an operator with a
  // `Fwd thread id`, and it has no iterations and no more annotations of its own than those.
  // Requires: indexes.
  static Result<AutogradCallers> read(const Database& trace);

  // With such threads.
  const std::set<std::int64_t>& processes() const noexcept { return processes_; }
  // The threads that may have called what the thread does from `startNs` to `endNs`, the likeliest
  // first: those that ran the forward part, by links, else by sequence numbers; then those of its
  // process with iterations; then others with annotations. The one that has a scope open then is
  // it. Empty: the thread does not work for autograd.
  std::vector<std::int64_t> callersOf(std::int64_t threadId,
                                      std::int64_t startNs,
                                      std::int64_t endNs) const;

 private:
  using Hint = std::pair<std::int64_t, std::int64_t>;  // time, thread of the forward part
  struct Worker {
    std::int64_t process = 0;
    std::int64_t alone = 0;   // slices that stand alone and are autograd's
    std::vector<Hint> hints;  // by time
  };
  struct Process {
    std::vector<std::int64_t> withIterations;
    std::vector<std::int64_t> withAnnotations;
  };

  Result<void> readLinks(const Database& trace);
  Result<void> readNames(const Database& trace);
  Result<void> readSequences(const Database& trace);
  Result<void> readThreads(const Database& trace);

  std::map<std::int64_t, Worker> workers_;  // by thread
  std::map<std::int64_t, Process> callers_;
  std::set<std::int64_t> processes_;
};

}  // namespace sonde::store
