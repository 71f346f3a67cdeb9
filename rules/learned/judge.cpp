#include "rules/learned/judge.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace sonde::rules {
namespace {

constexpr std::size_t kMostNames = 5;  // of those that are new or missing

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > shown)
    text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// How a set of names differs: "new: a, b; missing: c".
std::string differenceOfNames(const std::string& observed, const std::string& expected) {
  const auto has = linesOf(observed);
  const auto should = linesOf(expected);
  std::vector<std::string> added;
  std::vector<std::string> missing;
  std::set_difference(
      has.begin(), has.end(), should.begin(), should.end(), std::back_inserter(added));
  std::set_difference(
      should.begin(), should.end(), has.begin(), has.end(), std::back_inserter(missing));
  std::string text;
  if (!added.empty())
    text = "new: " + joined(added);
  if (!missing.empty())
    text += (text.empty() ? "missing: " : "; missing: ") + joined(missing);
  return text;
}

// The place where an order differs from the learned one that is the same for longest: "b after a".
std::pair<std::string, std::string> differenceOfOrder(const std::string& observed,
                                                      const std::vector<std::string>& learned) {
  const auto has = linesOf(observed);
  std::vector<std::string> should;
  std::ptrdiff_t longest = -1;
  for (const std::string& each : learned) {
    auto lines = linesOf(each);
    const auto same = std::mismatch(has.begin(), has.end(), lines.begin(), lines.end());
    if (same.first - has.begin() <= longest)
      continue;
    longest = same.first - has.begin();
    should = std::move(lines);
  }
  const auto [a, b] = std::mismatch(has.begin(), has.end(), should.begin(), should.end());
  const std::string after = a == has.begin() ? "" : " after " + *std::prev(a);
  const auto named = [&](auto at, auto end) { return (at == end ? "the end" : *at) + after; };
  return {named(a, has.end()), named(b, should.end())};
}

// How far two counts are apart: the logarithm of their ratio.
double distanceOf(const std::string& observed, const std::string& expected) {
  const double ratio =
      (std::strtod(observed.c_str(), nullptr) + 1) / (std::strtod(expected.c_str(), nullptr) + 1);
  return ratio > 0 ? std::abs(std::log(ratio)) : 0;
}

using ObservedAndExpected = std::pair<std::string, std::string>;  // observed, expected

ObservedAndExpected describe(const Invariant& invariant,
                             const OneOf& form,
                             const std::string& observed) {
  if (invariant.key.kind == "order")
    return differenceOfOrder(observed, form.values);
  if (invariant.key.measure == "names") {
    std::string best;
    for (const std::string& value : form.values)
      if (const std::string text = differenceOfNames(observed, value);
          best.empty() || text.size() < best.size())
        best = text;
    return {best, "the learned ones"};
  }
  return {shortened(observed), textOf(invariant)};
}

class InvariantJudge {
 public:
  InvariantJudge(const RunObservations& run, const JudgeSettings& settings)
      : run_(run), settings_(settings) {}

  InvariantJudgement judge(const LearnedInvariants& learned) {
    for (const Invariant& each : learned.invariants)
      if (settings_.ignore.empty() ||
          fnmatch(settings_.ignore.c_str(), each.key.subject.c_str(), 0) != 0)
        judge(each);
    sort();
    return std::move(result_);
  }

 private:
  void judge(const Invariant& invariant) {
    const auto ticks = run_.ticks.find(invariant.source);
    if (ticks == run_.ticks.end()) {
      if (invariant.source.ends_with("in evaluations"))
        ++result_.unseen;
      else
        ++result_.unrecorded[invariant.source];
      return;
    }
    static const ObservedSeries kNone;
    const auto found = run_.series.find(invariant.key);
    const ObservedSeries& series = found == run_.series.end() ? kNone : found->second;
    broken_.clear();
    seen_ = 0;
    if (const auto* form = std::get_if<OneOf>(&invariant.form))
      judgeTexts(invariant, *form, series, ticks->second);
    else if (const auto* law = std::get_if<Law>(&invariant.form))
      for (const auto& [tick, update] : series.updates)
        judgeUpdate(invariant, *law, tick, update);
    else
      for (const auto& [tick, number] : series.numbers)
        judgeNumber(invariant, tick, number);
    result_.samples += seen_;
    if (seen_ == 0)
      ++result_.unseen;
    else if (broken_.empty())
      ++result_.held;
    for (auto& [process, each] : broken_)
      result_.broken.push_back(std::move(each));
  }

  void judgeTexts(const Invariant& invariant,
                  const OneOf& form,
                  const ObservedSeries& series,
                  const std::vector<Tick>& ticks) {
    std::set<Tick> known;
    for (const auto& [tick, text] : series.texts) {
      known.insert(tick);
      judgeText(invariant, form, tick, text);
    }
    if (isCount(invariant.key))
      for (const Tick& tick : ticks)
        if (!known.contains(tick))
          judgeText(invariant, form, tick, "0");
  }

  void judgeText(const Invariant& invariant,
                 const OneOf& form,
                 const Tick& tick,
                 const std::string& text) {
    if (tick.iteration < run_.first + form.from)
      return;
    ++seen_;
    if (std::find(form.values.begin(), form.values.end(), text) != form.values.end())
      return;
    if (BrokenInvariant* const first = add(invariant, tick)) {
      std::tie(first->observed, first->expected) = describe(invariant, form, text);
      if (isCount(invariant.key))
        first->distance = distanceOf(text, form.values.front());
    }
  }

  void judgeUpdate(const Invariant& invariant,
                   const Law& law,
                   const Tick& tick,
                   const UpdatePoint& update) {
    const std::int64_t at = tick.iteration - law.first;
    if (at < 0 || at >= static_cast<std::int64_t>(law.factors.size()))
      return;
    const UpdateFactors& factors = law.factors[static_cast<std::size_t>(at)];
    if (std::isnan(factors.front()))
      return;
    const double error = updateError(factors, update, kUnlawfulRoundings);
    ++seen_;
    if (error <= kUnlawfulShare)
      return;
    if (BrokenInvariant* const first = add(invariant, tick))
      std::tie(first->observed, first->expected) =
          std::pair(fmt::format("a step that differs by {:.3g} %", 100 * error),
                    std::string("the learned one"));
  }

  void judgeNumber(const Invariant& invariant, const Tick& tick, double number) {
    if (const auto* path = std::get_if<Path>(&invariant.form)) {
      const std::int64_t at = tick.iteration - path->first;
      if (at < 0 || at >= static_cast<std::int64_t>(path->values.size()))
        return;
      const double expected = path->values[static_cast<std::size_t>(at)];
      if (std::isnan(expected))
        return;
      ++seen_;
      if (std::abs(number - expected) <= 2 * kSameShare * std::abs(expected))
        return;
      if (BrokenInvariant* const first = add(invariant, tick))
        std::tie(first->observed, first->expected) =
            std::pair(fmt::format("{:.6g}", number), fmt::format("{:.6g}", expected));
      return;
    }
    for (const Stage& stage : std::get<Range>(invariant.form).stages)
      if (tick.iteration >= stage.first && tick.iteration <= stage.last)
        judgeStage(invariant, stage, tick, number);
  }

  void judgeStage(const Invariant& invariant, const Stage& stage, const Tick& tick, double number) {
    ++seen_;
    const double middle = (stage.low + stage.high) / 2;
    const double half = (stage.high - stage.low) / 2 * settings_.widen;
    const bool isWide = settings_.widen != 1;
    const double low = isWide ? middle - half : stage.low;
    const double high = isWide ? middle + half : stage.high;
    if (number >= low && number <= high)
      return;
    if (BrokenInvariant* const first = add(invariant, tick))
      std::tie(first->observed, first->expected) =
          std::pair(fmt::format("{:.4g}", number), fmt::format("{:.4g} to {:.4g}", low, high));
  }

  // The place for the texts, if it is the first time that the process broke it.
  BrokenInvariant* add(const Invariant& invariant, const Tick& tick) {
    const auto [known, isNew] =
        broken_.try_emplace(tick.process, BrokenInvariant{&invariant, tick, "", "", 0});
    BrokenInvariant& each = known->second;
    ++each.times;
    if (!isNew && each.tick <= tick)
      return nullptr;
    each.tick = tick;
    return &each;
  }

  // Within an iteration and kind, texts that never varied come first, and counts that are far off.
  void sort() {
    const auto& kinds = observationKinds();
    const auto place = [&](const BrokenInvariant& each) {
      const auto* const form = std::get_if<OneOf>(&each.invariant->form);
      return std::tuple(each.tick.process,
                        each.tick.iteration,
                        std::find(kinds.begin(), kinds.end(), each.invariant->key.kind),
                        form == nullptr ? kMostValues : form->values.size(),
                        -each.distance);
    };
    std::stable_sort(
        result_.broken.begin(),
        result_.broken.end(),
        [&](const BrokenInvariant& a, const BrokenInvariant& b) { return place(a) < place(b); });
  }

  const RunObservations& run_;
  const JudgeSettings& settings_;
  InvariantJudgement result_;
  std::map<int, BrokenInvariant> broken_;  // of the current invariant, by process
  std::int64_t seen_ = 0;
};

}  // namespace

InvariantJudgement judgeInvariants(const LearnedInvariants& learned,
                                   const RunObservations& run,
                                   const JudgeSettings& settings) {
  return InvariantJudge(run, settings).judge(learned);
}

}  // namespace sonde::rules
