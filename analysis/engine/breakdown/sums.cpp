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
    static_cast<CategoryMask>(bit(Category::Compute) - 1);  // those before it, in the enumeration

void insert(Ids& ids, std::uint32_t id) {
  const auto place = std::lower_bound(ids.begin(), ids.end(), id);
  if (id != 0 && (place == ids.end() || *place != id))
    ids.insert(place, id);
}

// What is active together, as a row has it.
Key keyOf(const ActiveSet& set, const Labels& labels) {
  Key key;
  CategoryMask active = 0;
  for (const Label label : set.labels) {
    const Activity& activity = labels[label];
    insert(key.phases, activity.scope.phase);
    insert(key.operations, activity.scope.operation);
    insert(key.modules, activity.scope.module);
    key.iteration = std::max(key.iteration, activity.iteration);
    active |= bit(activity.category);
  }
  key.categories = active & static_cast<CategoryMask>((1U << kCategories) - 1);
  if ((active & bit(Category::Parked)) != 0 && (active & (kHostMask | bit(Category::Scope))) == 0)
    key.categories |= bit(Category::Wait);
  if (key.categories == 0)
    key.categories = bit(Category::Other);
  return key;
}

bool isMasked(const ActiveSet& set, const Labels& labels) {
  return std::any_of(set.labels.begin(), set.labels.end(), [&](Label label) {
    return labels[label].category == Category::Masked;
  });
}

void count(const Tracks& tracks, Key of, const Dimensions& by, Sums& into) {
  const SweepResult result = sweep(tracks.tracks);
  std::vector<Key> keys;
  for (const ActiveSet& set : result.sets) {
    Key key = keyOf(set, tracks.labels);
    key.process = of.process;
    key.thread = of.thread;
    keys.push_back(std::move(key));
    if (isMasked(set, tracks.labels)) {
      into.maskedNs += set.ns;
      continue;
    }
    if (set.ns == 0)
      continue;
    into.ns[keys.back()] += set.ns;
    into.wallNs += set.ns;
  }
  if (!by.category)
    return;
  for (const Transition& transition : result.transitions) {
    if (isMasked(result.sets[transition.to], tracks.labels))
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
  into.processes.push_back(
      {process.id, process.pid, process.rank, part.wallNs, process.host, process.command});
  for (const HostThread& thread : process.threads)
    into.tids.emplace(thread.id, thread.tid);
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
                   "the times in the trace are too far apart: they add up to more than 292 years"};
    merge(events.processes[at], parts[at], all);
  }
  return all;
}

}  // namespace sonde::engine::breakdown
