#include "analysis/engine/breakdown/breakdown.h"

#include "analysis/engine/breakdown/parallel.h"
#include "analysis/engine/breakdown/process_events.h"
#include "analysis/engine/breakdown/process_tracks.h"
#include "analysis/engine/breakdown/sweep.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

using Mask = std::uint16_t;
using Ids = std::vector<std::uint32_t>;

constexpr Mask bit(Category category) noexcept {
  return static_cast<Mask>(1U << static_cast<unsigned>(category));
}
constexpr Mask kDeviceMask = bit(Category::Compute) | bit(Category::Copy) | bit(Category::Comm);
constexpr Mask kHostMask =
    static_cast<Mask>(bit(Category::Compute) - 1);  // those before it, in the enumeration

// A group by the ids of names, and its categories.
struct Key {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  Ids phases;
  Ids operations;
  Ids modules;
  std::int64_t iteration = Activity::kNoIteration;
  Mask categories = 0;

  auto operator<=>(const Key&) const = default;
};

struct Sums {
  std::map<Key, std::int64_t> ns;
  std::map<std::pair<Key, Category>, std::int64_t> entered;
  std::int64_t wallNs = 0;
};

void insert(Ids& ids, std::uint32_t id) {
  const auto place = std::lower_bound(ids.begin(), ids.end(), id);
  if (id != 0 && (place == ids.end() || *place != id))
    ids.insert(place, id);
}

// What is active together, as a row has it.
Key keyOf(const ActiveSet& set, const Labels& labels) {
  Key key;
  Mask active = 0;
  for (const Label label : set.labels) {
    const Activity& activity = labels[label];
    insert(key.phases, activity.scope.phase);
    insert(key.operations, activity.scope.operation);
    insert(key.modules, activity.scope.module);
    key.iteration = std::max(key.iteration, activity.iteration);
    active |= bit(activity.category);
  }
  key.categories = active & static_cast<Mask>((1U << kCategories) - 1);
  if ((active & bit(Category::Parked)) != 0 && (active & (kHostMask | bit(Category::Scope))) == 0)
    key.categories |= bit(Category::Wait);
  if (key.categories == 0)
    key.categories = bit(Category::Other);
  return key;
}

Resource resourceOf(Mask categories) noexcept {
  if ((categories & kDeviceMask) == 0)
    return Resource::Cpu;
  return (categories & ~kDeviceMask) == 0 ? Resource::Gpu : Resource::CpuAndGpu;
}

void count(const Tracks& tracks, Key of, const Dimensions& by, Sums& into) {
  const SweepResult result = sweep(tracks.tracks);
  std::vector<Key> keys;
  for (const ActiveSet& set : result.sets) {
    Key key = keyOf(set, tracks.labels);
    key.process = of.process;
    key.thread = of.thread;
    keys.push_back(std::move(key));
    if (set.ns == 0)
      continue;
    into.ns[keys.back()] += set.ns;
    into.wallNs += set.ns;
  }
  if (!by.category)
    return;
  for (const Transition& transition : result.transitions) {
    Key from = keys[transition.from];
    Key to = keys[transition.to];
    const auto fresh = static_cast<Mask>(to.categories & ~from.categories);
    from.categories = to.categories = 0;
    if (from != to)
      continue;
    for (std::size_t at = 0; at < kCategories; ++at)
      if (const auto category = static_cast<Category>(at); (fresh & bit(category)) != 0)
        into.entered[{to, category}] += transition.count;
  }
}

Sums sumOf(ProcessEvents& process, const Options& options) {
  Sums sums;
  const TrackOptions tracking{options.atLaunch, options.by.iteration};
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

class Naming {
 public:
  explicit Naming(const store::Database& trace) : trace_(trace) {}

  Result<Group> group(const Key& key, const Dimensions& by) {
    Group group;
    if (by.process || by.thread)
      group.processId = key.process;
    if (by.thread)
      group.threadId = key.thread;
    SONDE_TRY_ASSIGN(group.phases, names(key.phases));
    SONDE_TRY_ASSIGN(group.operations, names(key.operations));
    SONDE_TRY_ASSIGN(group.modules, names(key.modules));
    if (key.iteration != Activity::kNoIteration)
      group.iteration = key.iteration;
    if (by.category)
      for (std::size_t at = 0; at < kCategories; ++at)
        if ((key.categories & bit(static_cast<Category>(at))) != 0)
          group.categories.push_back(kCategoryWords[at]);
    if ((by.category || by.resource) && key.categories != 0)
      group.resource = resourceOf(key.categories);
    std::sort(group.categories.begin(), group.categories.end());
    return group;
  }

 private:
  Result<std::vector<std::string>> names(const Ids& ids) {
    std::vector<std::string> texts;
    for (const std::uint32_t id : ids) {
      SONDE_TRY_ASSIGN(const std::string text, name(id));
      texts.push_back(text);
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  }
  Result<std::string> name(std::uint32_t id) {
    if (const auto known = names_.find(id); known != names_.end())
      return known->second;
    SONDE_TRY_ASSIGN(store::Statement row, trace_.prepare("SELECT text FROM string WHERE id = ?1"));
    row.bind(1, id);
    SONDE_TRY(row.step());
    return names_.emplace(id, std::string(row.text(0))).first->second;
  }

  const store::Database& trace_;
  std::unordered_map<std::uint32_t, std::string> names_;
};

auto orderOf(const Group& group) {
  return std::tie(group.processId, group.threadId);
}

Result<void> addRows(const std::map<Key, std::int64_t>& sums,
                     const Dimensions& by,
                     Naming& naming,
                     Breakdown& into) {
  std::map<Group, std::int64_t> rows;
  for (const auto& [key, ns] : sums) {
    SONDE_TRY_ASSIGN(Group group, naming.group(key, by));
    rows[std::move(group)] += ns;
    into.totalNs += ns;
  }
  for (auto& [group, ns] : rows)
    into.rows.push_back({group, ns});
  std::stable_sort(into.rows.begin(), into.rows.end(), [](const Row& a, const Row& b) {
    return std::tuple(orderOf(a.group), -a.ns) < std::tuple(orderOf(b.group), -b.ns);
  });
  return {};
}

Result<void> addEntered(const std::map<std::pair<Key, Category>, std::int64_t>& sums,
                        const Dimensions& by,
                        Naming& naming,
                        Breakdown& into) {
  for (const auto& [place, times] : sums) {
    SONDE_TRY_ASSIGN(Group group, naming.group(place.first, by));
    into.entered.push_back(
        {std::move(group), kCategoryWords[static_cast<std::size_t>(place.second)], times});
  }
  std::stable_sort(
      into.entered.begin(), into.entered.end(), [](const Entered& a, const Entered& b) {
        return std::tuple(orderOf(a.group), -a.count) < std::tuple(orderOf(b.group), -b.count);
      });
  return {};
}

}  // namespace

std::string_view word(Resource resource) noexcept {
  switch (resource) {
    case Resource::Cpu:
      return "cpu";
    case Resource::Gpu:
      return "gpu";
    case Resource::CpuAndGpu:
      return "cpu+gpu";
  }
  return {};
}

Result<Breakdown> breakDown(const store::Database& trace, const Options& options) {
  const Dimensions& by = options.by;
  SONDE_TRY_ASSIGN(TraceEvents events, readEvents(trace, {by.phase, by.operation, by.module}));
  std::vector<Sums> parts(events.processes.size());
  inParallel(parts.size(), options.parallel, [&](std::size_t at) {
    parts[at] = sumOf(events.processes[at], options);
  });
  Breakdown result;
  result.negative = events.negative;
  Sums all;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const ProcessEvents& process = events.processes[at];
    result.processes.push_back({process.id, process.pid, process.rank, parts[at].wallNs});
    for (const HostThread& thread : process.threads)
      result.tids.emplace(thread.id, thread.tid);
    if (__builtin_add_overflow(all.wallNs, parts[at].wallNs, &all.wallNs))
      return Error{ErrorCode::Corrupt,
                   "the times in the trace are too far apart: they add up to more than 292 years"};
    for (const auto& [key, ns] : parts[at].ns)
      all.ns[key] += ns;
    for (const auto& [place, times] : parts[at].entered)
      all.entered[place] += times;
  }
  Naming naming(trace);
  SONDE_TRY(addRows(all.ns, by, naming, result));
  SONDE_TRY(addEntered(all.entered, by, naming, result));
  if (result.totalNs == 0)
    return Error{ErrorCode::NotFound,
                 "nothing in the trace takes any time: there is nothing to "
                 "break down"};
  return result;
}

}  // namespace sonde::engine::breakdown
