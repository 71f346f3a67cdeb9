#include "analysis/engine/optimise/plan.h"

#include "analysis/engine/optimise/families.h"
#include "analysis/engine/optimise/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sonde::engine::optimise {
namespace {

using whatif::Question;

bool isOfJob(ErrorCode code) {
  return code == ErrorCode::NotFound || code == ErrorCode::InvalidArgument;
}

class Planner {
 public:
  Planner(const whatif::AskedJob& job, const PlanOptions& options) : job_(job), options_(options) {}

  Result<Plan> run() {
    plan_.iterations = job_.iterations();
    plan_.baselineNs = job_.baselineNs();
    if (options_.memoryBytes) {
      SONDE_TRY_ASSIGN(plan_.memory, readMemoryNeed(job_.trace(), job_.job()));
    }
    SONDE_TRY(makeFamilies());
    SONDE_TRY_ASSIGN(found_, search(space()));
    SONDE_TRY(checkFound());
    SONDE_TRY(dropSmallGains());
    SONDE_TRY(describeChanges());
    describeOthers();
    SONDE_TRY(describeTogether());
    return std::move(plan_);
  }

 private:
  bool isTooLarge() const {
    return plan_.memory && plan_.memory->peakBytes > *options_.memoryBytes;
  }

  bool isWanted(const std::string& name, bool isDefault) const {
    const auto& names = options_.questions;
    if (names.empty())
      return isDefault || (isTooLarge() && (name == "split-batch" || name == "recompute"));
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  Result<void> makeFamilies() {
    SONDE_TRY(checkNames(options_.questions, options_.more));
    for (const Family& family : options_.more)
      if (isWanted(family.name, true))
        families_.push_back(family);
    for (const FamilyKind& kind : familyKinds()) {
      if (!isWanted(kind.name, kind.isDefault))
        continue;
      const bool isWhole = !options_.use.chain && kind.makeWhole != nullptr;
      auto family = isWhole ? kind.makeWhole(job_) : kind.make(job_);
      if (!family && !isOfJob(family.error().code))
        return family.error();
      if (family && !family->changes.empty())
        families_.push_back(*std::move(family));
      else if (family)
        plan_.leftOut.push_back({kind.name, "there is no other setting to try"});
      else
        plan_.leftOut.push_back({kind.name, family.error().message});
    }
    return {};
  }

  const Change& changeOf(std::size_t family, std::uint32_t pick) const {
    return families_[family].changes[pick - 1];
  }

  std::vector<Question> questionsOf(const Picks& picks) const {
    std::vector<Question> questions;
    for (std::size_t family = 0; family < picks.size(); ++family)
      if (picks[family] != 0)
        questions.push_back(changeOf(family, picks[family]).ask);
    return questions;
  }

  double productOf(const Picks& picks, double Change::*factor) const {
    double product = 1;
    for (std::size_t family = 0; family < picks.size(); ++family)
      if (picks[family] != 0)
        product *= changeOf(family, picks[family]).*factor;
    return product;
  }

  double peakOf(const Picks& picks) const {
    return plan_.memory->peakWith(productOf(picks, &Change::activations));
  }

  // For each sample. nullopt: the job cannot be asked this.
  Result<std::optional<double>> timeNs(const Picks& picks, const std::vector<Question>& questions) {
    ++plan_.replays;
    report();
    const auto ns = job_.predictNs(questions);
    if (ns)
      return std::optional(*ns / productOf(picks, &Change::samples));
    if (!isOfJob(ns.error().code))
      return ns.error();
    reason_ = ns.error().message;
    return std::optional<double>();
  }

  void report() const {
    constexpr double kHalf = 20;  // predictions
    const auto done = static_cast<double>(plan_.replays);
    options_.progress("trying changes", done / (done + kHalf));
  }

  Space space() {
    Space space;
    for (const Family& each : families_)
      space.choices.push_back(static_cast<std::uint32_t>(each.changes.size()));
    space.isToStop = options_.isToStop;
    space.timeNs = [this](const Picks& picks) -> Result<std::optional<double>> {
      if (plan_.memory && peakOf(picks) > static_cast<double>(*options_.memoryBytes))
        return std::optional<double>();
      if (hasImpossible(picks))
        return std::optional<double>();
      SONDE_TRY_ASSIGN(const auto ns, timeNs(picks, questionsOf(picks)));
      if (!ns)
        reasons_.emplace(picks, reason_);
      return ns;
    };
    if (!options_.use.bounds)
      return space;
    space.boundNs = [this](const Picks& picks,
                           const std::vector<bool>& isOpen) -> Result<std::optional<double>> {
      std::vector<Question> questions = questionsOf(picks);
      double samples = 1;
      for (std::size_t family = 0; family < isOpen.size(); ++family) {
        if (!isOpen[family])
          continue;
        if (!families_[family].ideal)
          return std::optional<double>();
        if (!isPossible(family))
          continue;
        questions.push_back(*families_[family].ideal);
        samples *= mostSamples(families_[family]);
      }
      SONDE_TRY_ASSIGN(const auto ns, timeNs(picks, questions));
      return ns ? std::optional(*ns / samples) : ns;
    };
    return space;
  }

  static double mostSamples(const Family& family) {
    double most = 1;
    for (const Change& each : family.changes)
      most = std::max(most, each.samples);
    return most;
  }

  // The job cannot be asked one of the changes alone.
  bool hasImpossible(const Picks& picks) const {
    for (std::size_t family = 0; family < picks.size(); ++family) {
      Picks alone(picks.size(), 0);
      alone[family] = picks[family];
      if (picks[family] != 0 && reasons_.contains(alone))
        return true;
    }
    return false;
  }

  // Some change of the family can be made alone.
  bool isPossible(std::size_t family) const {
    for (std::uint32_t pick = 1; pick <= families_[family].changes.size(); ++pick) {
      Picks picks(families_.size(), 0);
      picks[family] = pick;
      if (!reasons_.contains(picks))
        return true;
    }
    return false;
  }

  Result<void> checkFound() {
    bool isAnyPossible = false;
    for (std::size_t family = 0; family < families_.size(); ++family) {
      if (isPossible(family)) {
        isAnyPossible = true;
        continue;
      }
      Picks picks(families_.size(), 0);
      picks[family] = 1;
      plan_.leftOut.push_back({families_[family].name, reasons_.at(picks)});
    }
    plan_.isComplete = found_.isComplete;
    if (!isAnyPossible) {
      std::string reasons;
      for (const LeftOut& each : plan_.leftOut)
        reasons += fmt::format("\n  {}: {}", each.family, each.reason);
      return notFound("the trace allows none of the questions:" + reasons);
    }
    if (std::isinf(found_.ns) && !found_.isComplete)
      return notFound(
          fmt::format("the search was stopped before it found a change with which the "
                      "job fits into {} bytes: give it more time (--budget)",
                      *options_.memoryBytes));
    if (std::isinf(found_.ns))
      return notFound(
          fmt::format("no change makes the job fit into {} bytes: {} holds {} bytes at its peak, "
                      "and {} between "
                      "iterations",
                      *options_.memoryBytes,
                      plan_.memory->place,
                      plan_.memory->peakBytes,
                      plan_.memory->betweenBytes));
    return {};
  }

  double gainOf(double nsOfSample) const { return 1 - nsOfSample / plan_.baselineNs; }

  // The part of the baseline that the plan takes longer without the change of a family.
  Result<double> gainInPlan(std::size_t family) {
    Picks without = found_.picks;
    without[family] = 0;
    SONDE_TRY_ASSIGN(const auto ns, timeNs(without, questionsOf(without)));
    return (ns.value_or(plan_.baselineNs) - found_.ns) / plan_.baselineNs;
  }

  bool isNeededForMemory(std::size_t family) const {
    Picks without = found_.picks;
    without[family] = 0;
    return plan_.memory && peakOf(without) > static_cast<double>(*options_.memoryBytes);
  }

  // Nobody changes a program for them; the smallest one goes first.
  Result<void> dropSmallGains() {
    for (;;) {
      std::optional<std::size_t> least;
      double leastGain = options_.leastGain;
      for (std::size_t family = 0; family < families_.size(); ++family) {
        if (found_.picks[family] == 0 || isNeededForMemory(family))
          continue;
        SONDE_TRY_ASSIGN(const double gain, gainInPlan(family));
        if (gain >= leastGain)
          continue;
        least = family;
        leastGain = gain;
      }
      if (!least)
        return {};
      found_.picks[*least] = 0;
      found_.ns += leastGain * plan_.baselineNs;
    }
  }

  Result<void> describeChanges() {
    for (std::size_t family = 0; family < families_.size(); ++family) {
      if (found_.picks[family] == 0)
        continue;
      PlannedChange planned;
      planned.family = families_[family].name;
      planned.change = changeOf(family, found_.picks[family]);
      plan_.questions.push_back(planned.change.question);
      ++plan_.replays;
      SONDE_TRY_ASSIGN(const whatif::Answer alone, job_.ask({planned.change.ask}));
      planned.alone = {alone.predictedNs, alone.lowNs, alone.highNs};
      planned.gain = gainOf(alone.predictedNs / planned.change.samples);
      SONDE_TRY_ASSIGN(planned.gainInPlan, gainInPlan(family));
      plan_.changes.push_back(std::move(planned));
    }
    std::stable_sort(
        plan_.changes.begin(),
        plan_.changes.end(),
        [](const PlannedChange& a, const PlannedChange& b) { return a.gainInPlan > b.gainInPlan; });
    return {};
  }

  void describeOthers() {
    for (std::size_t family = 0; family < families_.size(); ++family) {
      if (found_.picks[family] != 0)
        continue;
      std::optional<OtherChange> best;
      for (std::uint32_t pick = 1; pick <= found_.aloneNs[family].size(); ++pick) {
        const auto ns = found_.aloneNs[family][pick - 1];
        if (!ns || (best && gainOf(*ns) <= best->gain))
          continue;
        const Change& change = changeOf(family, pick);
        best = {families_[family].name, change, *ns * change.samples, gainOf(*ns)};
      }
      if (best)
        plan_.others.push_back(*std::move(best));
    }
  }

  Result<void> describeTogether() {
    ++plan_.replays;
    SONDE_TRY_ASSIGN(whatif::Answer all, job_.ask(questionsOf(found_.picks)));
    plan_.together = {all.predictedNs, all.lowNs, all.highNs};
    plan_.samples = productOf(found_.picks, &Change::samples);
    plan_.gain = gainOf(all.predictedNs / plan_.samples);
    plan_.notes = std::move(all.notes);
    if (!plan_.changes.empty() && all.highNs / plan_.samples >= plan_.baselineNs)
      plan_.notes.emplace_back(
          "the interval of the plan contains the present time, so it may not help: record more "
          "iterations, or give models of the network (sonde microbench --fit) with --model");
    if (plan_.memory)
      plan_.peakBytes = peakOf(found_.picks);
    return {};
  }

  const whatif::AskedJob& job_;
  const PlanOptions& options_;
  Plan plan_;
  std::vector<Family> families_;
  SearchResult found_;
  std::string reason_;                    // why the last questions could not be asked
  std::map<Picks, std::string> reasons_;  // why these are not possible
};

}  // namespace

Result<Plan> plan(const whatif::AskedJob& job, const PlanOptions& options) {
  return Planner(job, options).run();
}

}  // namespace sonde::engine::optimise
