// Which iterations of a trace do not count, because not all was recorded of them, or the recorder
// stored meanwhile, or because they are a part of another one: decided here alone, so that whatever
// is said of iterations is said of the same ones. Reading uses the database's thread; then plain
// values.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/iteration_nesting.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace sonde::engine::iterations {

class MaskedIterations {
 public:
  // Masked are those in which not all probes recorded that the run was asked for (`meta.sources`;
  // where it does not say, that the process ever had), those in outline among them, and the first
  // ones with all probes again after these: hooks have just been put back, and caches are still
  // those of before. Of a trace that says nothing of probes, as of one that was imported: none.
  // In a run with --calibrate those are, too, during which the recorder of their host stored: no
  // event accounts for what it takes of a processor. Not where too few would be left of a process
  // with all probes, or without some.
  static Result<MaskedIterations> read(const store::Database& trace);

  // Of a row of `iteration`; not of inner ones.
  bool contains(std::int64_t id) const { return masked_.contains(id); }
  // Whether it lies within another one of its thread: its time is told as that one's.
  bool isInner(std::int64_t id) const { return holders_.contains(id); }
  // The one that it lies directly within. Requires: it is an inner one.
  std::int64_t holderOf(std::int64_t id) const { return holders_.at(id); }
  // Of these, and of those with probes off: whether the recorder stored meanwhile.
  bool isDisturbed(std::int64_t id) const { return disturbed_.contains(id); }
  // What the iterations of a process have that have all probes: bits of model::kProbeWords. 0: the
  // process has no iterations, or nothing is known of their probes.
  std::int64_t fullMaskOf(std::int64_t processId) const;

 private:
  std::unordered_set<std::int64_t> masked_;
  store::IterationHolders holders_;                           // of inner ones
  std::unordered_set<std::int64_t> disturbed_;                // all of them are masked
  std::unordered_map<std::int64_t, std::int64_t> fullMasks_;  // by process
};

}  // namespace sonde::engine::iterations
