#include "analysis/engine/breakdown/sums.h"

#include "analysis/engine/breakdown/parallel.h"
#include "analysis/engine/breakdown/process_tracks.h"
#include "analysis/engine/breakdown/sweep.h"

#include <algorithm>

namespace sonde::engine::breakdown {
namespace {

constexpr CategoryMask kDeviceMask =
    bit(Category::Compute) | bit(Category::Copy) | bit(Category::Comm);
constexpr CategoryMask kHostMask =
    static_cast<CategoryMask>(bit(Category::Compute) - 1);  // the ones before it in the enumeration

// A multiset of numbers.
template <typename Number>
class Counted {
 public:
  void change(Number number, bool isAdded) {
    std::uint32_t& count = counts_[number];
    count += isAdded ? 1U : ~0U;
    if (count == 0)
      counts_.erase(number);
  }
  const std::map<Number, std::uint32_t>& counts() const noexcept { return counts_; }

 private:
  std::map<Number, std::uint32_t> counts_;
};

Ids idsOf(const Counted<std::uint32_t>& names) {
  if (names.counts().size() > kMostNames)
    return {kMany};
  Ids ids;
  for (const auto& [id, count] : names.counts())
    ids.push_back(id);
  return ids;
}

// The activities at the current instant.
class Together {
 public:
  void change(const Activity& activity, bool isActive) {
    const auto name = [isActive](Counted<std::uint32_t>& names, std::uint32_t id) {
      if (id != 0)
        names.change(id, isActive);
    };
    name(phases_, activity.scope.phase);
    name(operations_, activity.scope.operation);
    name(modules_, activity.scope.module);
    if (activity.iteration != Activity::kNoIteration)
      iterations_.change(activity.iteration, isActive);
    categories_.change(activity.category, isActive);
  }

  bool isMasked() const { return categories_.counts().contains(Category::Masked); }
  Key key() const;  // the key of the row for them

 private:
  Counted<std::uint32_t> phases_;
  Counted<std::uint32_t> operations_;
  Counted<std::uint32_t> modules_;
  Counted<std::int64_t> iterations_;
  Counted<Category> categories_;
};

Key Together::key() const {
  Key key;
  key.phases = idsOf(phases_);
  key.operations = idsOf(operations_);
  key.modules = idsOf(modules_);
  if (!iterations_.counts().empty())
    key.iteration = iterations_.counts().rbegin()->first;
  CategoryMask active = 0;
  for (const auto& [category, count] : categories_.counts())
    active |= bit(category);
  key.categories = active & static_cast<CategoryMask>((1U << kCategories) - 1);
  if ((active & bit(Category::Parked)) != 0 && (active & (kHostMask | bit(Category::Scope))) == 0)
    key.categories |= bit(Category::Wait);
  if (key.categories == 0)
    key.categories = bit(Category::Other);
  return key;
}

void count(const Tracks& tracks, Key of, const Dimensions& by, Sums& into) {
  const SweepResult result = sweep(tracks.tracks);
  std::vector<Key> keys(result.sets.size());
  std::vector<bool> isMasked(result.sets.size(), false);
  Together together;
  const auto toggle = [&](Label label, bool isActive) {
    together.change(tracks.labels[label], isActive);
  };
  const auto visit = [&](std::size_t at) {
    const std::int64_t ns = result.sets[at].ns;
    keys[at] = together.key();
    keys[at].process = of.process;
    keys[at].thread = of.thread;
    isMasked[at] = together.isMasked();
    (isMasked[at] ? into.maskedNs : into.wallNs) += ns;
    if (!isMasked[at] && ns > 0)
      into.ns[keys[at]] += ns;
  };
  result.forEachSet(toggle, visit);
  if (!by.category)
    return;
  for (const Transition& transition : result.transitions) {
    if (isMasked[transition.to])
      continue;
    Key from = keys[transition.from];
    Key to = keys[transition.to];
    const auto fresh = static_cast<CategoryMask>(to.categories & ~from.categories);
    from.categories = to.categories = 0;
    if (from != to)
      continue;
    for (std::size_t at = 0; at < kCategories; ++at)
      if (const auto category = static_cast<Category>(at); (fresh & bit(category)) != 0)
        into.entered[{to, category}] += transition.count;
  }
}

Sums sumOf(ProcessEvents& process, const Options& options, const TrackOptions& tracking) {
  Sums sums;
  Key key;
  key.process = options.by.process || options.by.thread ? process.id : 0;
  if (!options.by.thread) {
    count(tracksOfProcess(process, tracking), key, options.by, sums);
    return sums;
  }
  for (HostThread& thread : process.threads) {
    key.thread = thread.id;
    count(tracksOfThread(process, thread, tracking), key, options.by, sums);
  }
  return sums;
}

void merge(const ProcessEvents& process, const Sums& part, Sums& into) {
  if (process.within && part.wallNs == 0 && part.maskedNs == 0)
    return;
  into.processes.push_back(
      {process.id, process.pid, process.rank, part.wallNs, process.host, process.command});
  for (const HostThread& thread : process.threads)
    into.threads.emplace(thread.id, ThreadName{thread.tid, thread.name});
  for (const auto& [key, ns] : part.ns)
    into.ns[key] += ns;
  for (const auto& [place, times] : part.entered)
    into.entered[place] += times;
  into.maskedNs += part.maskedNs;
}

}  // namespace

Resource resourceOf(CategoryMask categories) noexcept {
  if ((categories & kDeviceMask) == 0)
    return Resource::Cpu;
  return (categories & ~kDeviceMask) == 0 ? Resource::Gpu : Resource::CpuAndGpu;
}

Result<Sums> sumUp(TraceEvents& events,
                   const Options& options,
                   const correction::CorrectedTimes* times,
                   bool isLast) {
  const auto iterations = !options.by.iteration    ? nullptr
                          : options.byIterationRow ? &IterationSpan::id
                                                   : &IterationSpan::number;
  const TrackOptions tracking{options.atLaunch, iterations, times, isLast};
  std::vector<Sums> parts(events.processes.size());
  inParallel(parts.size(), options.parallel, [&](std::size_t at) {
    parts[at] = sumOf(events.processes[at], options, tracking);
  });
  Sums all;
  all.negative = events.negative;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (__builtin_add_overflow(all.wallNs, parts[at].wallNs, &all.wallNs))
      return Error{ErrorCode::Corrupt,
                   "the times in the trace are too far apart: their sum exceeds 292 years"};
    merge(events.processes[at], parts[at], all);
  }
  return all;
}

}  // namespace sonde::engine::breakdown
