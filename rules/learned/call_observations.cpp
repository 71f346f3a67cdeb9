// How often an iteration or evaluation calls what, with which arguments, and in which order.
#include "rules/learned/observers.h"

#include <fmt/format.h>

#include <string_view>

namespace sonde::rules {
namespace {

// Where evaluations are, "operators in evaluations".
std::string placeOf(const std::string& source, const CallStretch& stretch) {
  return stretch.isEvaluation ? source + " in evaluations" : source;
}

std::string subjectIn(const std::string& name, const CallStretch& stretch) {
  return stretch.isEvaluation ? name + " in evaluations" : name;
}

std::string namesIn(const CallCounts& counts) {
  std::string names;
  for (const auto& [name, count] : counts)
    names += (names.empty() ? "" : "\n") + name;
  return names;
}

struct Counted {
  const char* source;
  const char* kind;
  const char* prefix;
  const CallCounts CallStretch::*counts;
};

constexpr Counted kCounted[] = {{"scopes", "calls", "", &CallStretch::scopes},
                                {"operators", "calls", "operator ", &CallStretch::operators},
                                {"arguments", "arguments", "", &CallStretch::arguments},
                                {"collectives", "calls", "", &CallStretch::collectives}};

void observeCounts(const Counted& counted,
                   const CallStretch& stretch,
                   const Tick& tick,
                   Observer& observer) {
  const std::string source = placeOf(counted.source, stretch);
  observer.addTick(source, tick);
  for (const auto& [name, count] : stretch.*counted.counts)
    observer.addText({counted.kind, subjectIn(counted.prefix + name, stretch), "calls"},
                     source,
                     tick,
                     std::to_string(count));
  if (counted.kind == std::string_view("calls"))
    observer.addText({"names", subjectIn(counted.source, stretch), "names"},
                     source,
                     tick,
                     namesIn(stretch.*counted.counts));
}

void observeOrder(const CallStretch& stretch,
                  bool hasOperators,
                  const Tick& tick,
                  Observer& observer) {
  std::string scopes;
  std::string all;
  for (const std::string& name : stretch.order) {
    all += (all.empty() ? "" : "\n") + name;
    if (!stretch.operators.contains(name))
      scopes += (scopes.empty() ? "" : "\n") + name;
  }
  observer.addText({"order", subjectIn("scopes", stretch), "order"},
                   placeOf("scopes", stretch),
                   tick,
                   std::move(scopes));
  if (hasOperators)
    observer.addText({"order", subjectIn("scopes and operators", stretch), "order"},
                     placeOf("operators", stretch),
                     tick,
                     std::move(all));
}

}  // namespace

void observeCalls(const ProcessCalls& calls, Observer& observer) {
  int evaluation = 0;
  for (const CallStretch& stretch : calls.stretches) {
    if (!observer.observes(stretch.iteration))
      continue;
    const Tick tick = observer.tick(stretch.iteration, stretch.isEvaluation ? ++evaluation : 0);
    for (const Counted& counted : kCounted) {
      const bool isRecorded = counted.counts == &CallStretch::scopes ||
                              (counted.counts == &CallStretch::operators && calls.hasOperators) ||
                              (counted.counts == &CallStretch::arguments && calls.hasArguments) ||
                              (counted.counts == &CallStretch::collectives && calls.hasCollectives);
      if (isRecorded)
        observeCounts(counted, stretch, tick, observer);
    }
    observeOrder(stretch, calls.hasOperators, tick, observer);
  }
}

}  // namespace sonde::rules
