// Finds the thread that called the backward pass for which an autograd thread works. Used if no
// slice of kind backward shows it: in files of torch.profiler. Within analysis/finalise; plain
// values once read.
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
  // A thread works for autograd if it has no iterations, and its slices without a scope are of
  // these kinds: `autograd::engine::evaluate_function: …`, the end of a `fwdbwd` link from another
  // thread, or an operator with a `Fwd thread id`. It may not have more annotations than those.
  // Requires: indexes.
  static Result<AutogradCallers> read(const Database& trace);

  // The processes with such threads.
  const std::set<std::int64_t>& processes() const noexcept { return processes_; }
  // The threads that may have called what the thread does from `startNs` to `endNs`, most likely
  // first: those that ran the forward part, by links, else by sequence numbers; then those of its
  // process with iterations; then others with annotations. The first with a scope open at that time
  // is the caller. Empty: the thread does not work for autograd.
  std::vector<std::int64_t> callersOf(std::int64_t threadId,
                                      std::int64_t startNs,
                                      std::int64_t endNs) const;

 private:
  using Hint = std::pair<std::int64_t, std::int64_t>;  // time, thread of the forward part
  struct Worker {
    std::int64_t process = 0;
    std::int64_t alone = 0;   // slices of autograd without a scope
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
