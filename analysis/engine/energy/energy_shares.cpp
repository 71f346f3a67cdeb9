#include "analysis/engine/energy/energy_shares.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::energy {
namespace {

using breakdown::Span;
using metrics::Interval;

// The part of the time between two readings that lies in the window.
struct Step {
  Interval time{};
  double joules = 0;  // of that part
  double whole = 0;   // of the whole time between the readings
  bool isWhole = true;
};

std::vector<Step> stepsIn(const std::vector<Reading>& readings, Interval window) {
  std::vector<Step> steps;
  for (std::size_t at = 1; at < readings.size(); ++at) {
    const Reading& from = readings[at - 1];
    const Reading& to = readings[at];
    Step step;
    step.time = {std::max(from.ns, window.begin), std::min(to.ns, window.end)};
    if (step.time.end <= step.time.begin)
      continue;
    step.whole = std::max(to.joules - from.joules, 0.0);
    const auto length = static_cast<double>(step.time.end - step.time.begin);
    step.joules = step.whole * length / static_cast<double>(to.ns - from.ns);
    step.isWhole = step.time.begin == from.ns && step.time.end == to.ns;
    steps.push_back(step);
  }
  return steps;
}

struct Edge {
  std::int64_t ns;
  breakdown::Label label;
  int change;
};

std::vector<Edge> edgesOf(const std::vector<Span>& spans) {
  std::vector<Edge> edges;
  for (const Span& span : spans) {
    if (span.end <= span.begin)
      continue;
    edges.push_back({span.begin, span.label, 1});
    edges.push_back({span.end, span.label, -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.ns < b.ns; });
  return edges;
}

// Tracks the active spans while it visits stretches of time in order.
class Sharing {
 public:
  Sharing(const std::vector<Span>& spans, std::size_t labels)
      : edges_(edgesOf(spans)), open_(labels, 0), inStep_(labels + 1), labels_(labels) {}

  void add(const Step& step, EnergyShares& into) {
    passTo(step.time.begin);
    std::fill(inStep_.begin(), inStep_.end(), Part{});
    for (std::int64_t now = step.time.begin; now < step.time.end;) {
      const std::int64_t until =
          next_ < edges_.size() ? std::min(edges_[next_].ns, step.time.end) : step.time.end;
      divide(static_cast<double>(until - now), until - now);
      passTo(until);
      now = until;
    }
    for (std::size_t label = 0; label <= labels_; ++label)
      book(step, inStep_[label], label < labels_ ? into.shares[label] : into.idle);
  }

 private:
  struct Part {
    double ns = 0;  // its share of the time
    std::int64_t activeNs = 0;
  };

  void passTo(std::int64_t ns) {
    for (; next_ < edges_.size() && edges_[next_].ns <= ns; ++next_) {
      const Edge& edge = edges_[next_];
      open_[edge.label] += edge.change;
      count_ += edge.change;
      if (edge.change > 0 && open_[edge.label] == 1)
        active_.push_back(edge.label);
      else if (open_[edge.label] == 0)
        std::erase(active_, edge.label);
    }
  }
  void divide(double time, std::int64_t ns) {
    for (const breakdown::Label label : active_) {
      inStep_[label].ns += time * open_[label] / count_;
      inStep_[label].activeNs += ns;
    }
    if (!active_.empty())
      return;
    inStep_[labels_].ns += time;
    inStep_[labels_].activeNs += ns;
  }
  static void book(const Step& step, const Part& part, Share& share) {
    if (part.activeNs == 0)
      return;
    const std::int64_t length = step.time.end - step.time.begin;
    const bool isAlone = part.ns >= static_cast<double>(length) * (1 - 1e-12);
    share.joules += step.joules * part.ns / static_cast<double>(length);
    share.low += step.isWhole && isAlone ? step.joules : 0;
    share.high += step.whole;
    share.activeNs += part.activeNs;
  }

  std::vector<Edge> edges_;
  std::vector<int> open_;                 // number of open spans by label
  std::vector<breakdown::Label> active_;  // labels with an open span
  int count_ = 0;                         // of all open spans
  std::vector<Part> inStep_;              // the last entry: idle
  std::size_t labels_;
  std::size_t next_ = 0;
};

}  // namespace

EnergyShares shareEnergy(const std::vector<Reading>& readings,
                         const std::vector<Span>& spans,
                         std::size_t labels,
                         Interval window) {
  EnergyShares result;
  result.shares.resize(labels);
  const std::vector<Step> steps = stepsIn(readings, window);
  if (steps.empty())
    return result;
  result.measured = {steps.front().time.begin, steps.back().time.end};
  for (std::size_t at = 0; at < readings.size(); ++at) {
    if (readings[at].ns >= window.begin && readings[at].ns <= window.end)
      ++result.readings;
    if (at > 0 && readings[at].ns > window.begin && readings[at - 1].ns < window.end)
      result.longestNs = std::max(result.longestNs, readings[at].ns - readings[at - 1].ns);
  }
  Sharing sharing(spans, labels);
  for (const Step& step : steps) {
    result.joules += step.joules;
    sharing.add(step, result);
  }
  return result;
}

std::vector<Reading> integrated(const std::vector<Reading>& watts) {
  std::vector<Reading> energy;
  double joules = 0;
  for (std::size_t at = 0; at < watts.size(); ++at) {
    if (at > 0)
      joules += (watts[at].joules + watts[at - 1].joules) / 2 *
                static_cast<double>(watts[at].ns - watts[at - 1].ns) * 1e-9;
    energy.push_back({watts[at].ns, joules});
  }
  return energy;
}

}  // namespace sonde::engine::energy
