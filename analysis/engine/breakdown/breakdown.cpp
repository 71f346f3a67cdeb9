#include "analysis/engine/breakdown/breakdown.h"

#include "analysis/engine/breakdown/iteration_spans.h"
#include "analysis/engine/breakdown/process_events.h"
#include "analysis/engine/breakdown/sums.h"
#include "analysis/engine/breakdown/time_limits.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

using KindsById = std::unordered_map<std::uint32_t, model::SliceKind>;

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

  // By text, of the names so far.
  std::map<std::string, model::SliceKind> kindsOf(const KindsById& kinds) const {
    std::map<std::string, model::SliceKind> result;
    for (const auto& [id, text] : names_)
      if (const auto kind = kinds.find(id); kind != kinds.end())
        result.emplace(text, kind->second);
    return result;
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
    if (id == kMany)
      return fmt::format("(more than {})", kMostNames);
    SONDE_TRY_ASSIGN(store::Statement row, trace_.prepare("SELECT text FROM string WHERE id = ?1"));
    row.bind(1, id);
    SONDE_TRY(row.step());
    return names_.emplace(id, std::string(row.text(0))).first->second;
  }

  const store::Database& trace_;
  std::unordered_map<std::uint32_t, std::string> names_;
};

auto orderOf(const Group& group) {
  return std::tie(group.processId, group.threadId, group.iteration);
}

// All passes over the events, in the order of metrics::Clocks::all(): first as recorded. If the
// cost of recording is known: corrected, then with each cause of error higher and lower.
using Passes = std::vector<Sums>;

const Sums& bestOf(const Passes& passes) {
  return passes.size() > 1 ? passes[1] : passes.front();
}

// One row's time, by pass.
using Times = std::vector<std::int64_t>;

Row rowOf(const Group& group, const Times& times, const correction::Unexplained& unexplained) {
  const metrics::CorrectedNs told = metrics::withInterval(times, unexplained);
  return {group, told.ns, told.rawNs, told.lowNs, told.highNs, metrics::standardError(times)};
}

Result<std::map<Group, Times>> timesOf(const Passes& passes, const Dimensions& by, Naming& naming) {
  std::map<Group, Times> rows;
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    for (const auto& [key, ns] : passes[pass].ns) {
      SONDE_TRY_ASSIGN(Group group, naming.group(key, by));
      Times& times = rows[std::move(group)];
      times.resize(passes.size());
      times[pass] += ns;
    }
  return rows;
}

Result<void> addRows(const Passes& passes, const Dimensions& by, Naming& naming, Breakdown& into) {
  SONDE_TRY_ASSIGN(const auto rows, timesOf(passes, by, naming));
  for (const auto& [group, times] : rows) {
    const Row& row = into.rows.emplace_back(rowOf(group, times, into.unexplained));
    into.totalNs += row.ns;
    into.rawTotalNs += row.rawNs;
  }
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

namespace {

// Reads the events once. Holds the timelines of only one cause of error at a time.
Result<Passes> passesOf(const store::Database& trace,
                        const Options& options,
                        KindsById& kinds,
                        Breakdown& into) {
  using Error = correction::Correction::Error;
  const Dimensions& by = options.by;
  SONDE_TRY_ASSIGN(TraceEvents events, readEvents(trace, {by.phase, by.operation, by.module}));
  into.endsUnknown = events.endsUnknown;
  for (const ProcessEvents& process : events.processes)
    kinds.insert(process.scopes.kinds().begin(), process.scopes.kinds().end());
  if (options.within)
    SONDE_TRY(limitTo(trace, *options.within, events));
  if (by.iteration && !options.byIterationRow)
    into.repeated = repeatedNumbers(events);
  std::optional<correction::Correction> correction;
  if (options.correct) {
    SONDE_TRY_ASSIGN(correction, correction::readCorrection(trace, options.measured));
  }
  Passes passes;
  const auto add = [&](const correction::CorrectedTimes* times) -> Result<void> {
    SONDE_TRY_ASSIGN(Sums sums, sumUp(events, options, times, !correction));
    passes.push_back(std::move(sums));
    return {};
  };
  SONDE_TRY(add(nullptr));
  if (!correction)
    return passes;
  into.corrected = true;
  into.costs = correction->costs;
  into.unexplained = correction->unexplained;
  for (const auto& [of, count] : correction->unknown)
    into.unknownCosts.push_back({std::string(of.probe), std::string(of.api), count});
  SONDE_TRY(add(&correction->times));
  for (std::size_t cause = 0; cause < correction->causes(); ++cause)
    for (const Error error : {Error::Higher, Error::Lower}) {
      const correction::CorrectedTimes times = correction->timesWith(cause, error);
      SONDE_TRY(add(&times));
    }
  return passes;
}

}  // namespace

Result<Breakdown> breakDown(const store::Database& trace, const Options& options) {
  Breakdown result;
  KindsById kinds;
  SONDE_TRY_ASSIGN(const Passes passes, passesOf(trace, options, kinds, result));
  const Sums& best = bestOf(passes);
  result.negative = best.negative;
  result.maskedNs = best.maskedNs;
  result.processes = best.processes;
  result.threads = best.threads;
  Naming naming(trace);
  SONDE_TRY(addRows(passes, options.by, naming, result));
  SONDE_TRY(addEntered(best.entered, options.by, naming, result));
  result.kinds = naming.kindsOf(kinds);
  if (result.rawTotalNs == 0 && result.maskedNs > 0)
    return Error{ErrorCode::NotFound,
                 "nothing is left to break down: in all iterations probes were off, recording was "
                 "partial, or the recorder stored records"};
  if (result.rawTotalNs == 0 && options.within)
    return Error{ErrorCode::NotFound, "nothing that takes time was recorded in this range of time"};
  if (result.rawTotalNs == 0)
    return Error{ErrorCode::NotFound,
                 options.by.thread
                     ? "no thread of the trace has events with a duration, and rows by thread "
                       "exclude devices: omit `thread`"
                     : "there is nothing to break down: the trace has no events with a duration"};
  return result;
}

}  // namespace sonde::engine::breakdown
