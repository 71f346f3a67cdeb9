// Layout, values and changes of tensors, and the values of scalars.
#include "rules/learned/observers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

namespace sonde::rules {
namespace {

// A change is a value's ratio to the median of this many earlier ones.
constexpr std::size_t kRecent = 3;

double rmsOf(const TensorFact& fact) {
  return fact.finite() > 0 ? fact.l2 / std::sqrt(static_cast<double>(fact.finite())) : 0;
}

bool isSame(const TensorFact& a, const TensorFact& b) {
  const auto statistics = [](const TensorFact& each) {
    return std::tie(each.elements,
                    each.minimum,
                    each.maximum,
                    each.mean,
                    each.l1,
                    each.l2,
                    each.zeros,
                    each.nans,
                    each.infs);
  };
  return statistics(a) == statistics(b);
}

// The ratio of each positive value to the median of the positive ones just before it.
class Recent {
 public:
  std::optional<double> ratio(double value) {
    std::optional<double> ratio;
    if (!(value > 0) || std::isinf(value))
      return ratio;
    if (values_.size() == kRecent) {
      std::vector<double> sorted(values_.begin(), values_.end());
      std::nth_element(sorted.begin(), sorted.begin() + kRecent / 2, sorted.end());
      ratio = value / sorted[kRecent / 2];
      values_.pop_front();
    }
    values_.push_back(value);
    return ratio;
  }

 private:
  std::deque<double> values_;
};

class TensorObserver {
 public:
  TensorObserver(const TensorSeries& series, Observer& observer)
      : subject_(fmt::format("{} ({})", series.name, series.collection)),
        source_("tensors of " + series.collection),
        observer_(&observer) {}

  void observe(const TensorSeries& series) {
    const TensorFact* before = nullptr;
    for (const TensorFact& fact : series.values) {
      if (!observer_->observes(fact.iteration))
        continue;
      const bool isNext = before != nullptr && before->iteration == fact.iteration;
      part_ = isNext ? part_ + 1 : 0;
      const Tick tick = observer_->tick(fact.iteration, part_);
      observeLayout(fact, tick);
      observeValues(fact, tick);
      if (before != nullptr && !isNext) {
        text("updates", "changes", tick, isSame(*before, fact) ? "no" : "yes");
        flush(before->iteration);
      }
      before = &fact;
      ++recordings_;
    }
    if (before != nullptr)
      flush(before->iteration);
  }

 private:
  void text(const char* kind, const char* measure, const Tick& tick, std::string value) {
    observer_->addText({kind, subject_, measure}, source_, tick, std::move(value));
  }
  void number(const char* measure, const Tick& tick, double value) {
    observer_->addNumber({"values", subject_, measure}, source_, tick, value);
  }
  // All recordings of an iteration have been seen.
  void flush(std::int64_t iteration) {
    text("names", "recordings", observer_->tick(iteration), std::to_string(recordings_));
    recordings_ = 0;
  }

  void observeLayout(const TensorFact& fact, const Tick& tick) {
    text("layout", "shape", tick, fact.shape);
    text("layout", "dtype", tick, fact.dtype);
  }

  void observeValues(const TensorFact& fact, const Tick& tick) {
    text("values", "finite", tick, fact.finite() == fact.elements ? "yes" : "no");
    if (fact.finite() == 0)
      return;
    const double rms = rmsOf(fact);
    text("values", "all zero", tick, rms > 0 ? "no" : "yes");
    number("zeros", tick, static_cast<double>(fact.zeros) / static_cast<double>(fact.finite()));
    if (!(rms > 0) || !fact.mean || !fact.minimum || !fact.maximum)
      return;
    number("rms", tick, rms);
    number("mean / rms", tick, *fact.mean / rms);
    number("largest / rms", tick, std::max(std::abs(*fact.minimum), std::abs(*fact.maximum)) / rms);
    if (const auto ratio = recent_.ratio(rms))
      number("rms / recent rms", tick, *ratio);
  }

  std::string subject_;
  std::string source_;
  Observer* observer_;
  Recent recent_;
  int part_ = 0;
  int recordings_ = 0;
};

}  // namespace

void observeTensors(const ProcessFacts& facts, Observer& observer) {
  std::map<std::pair<std::string, std::int64_t>, std::set<std::string>> names;
  for (const TensorSeries& series : facts.tensors) {
    TensorObserver(series, observer).observe(series);
    for (const TensorFact& fact : series.values)
      if (observer.observes(fact.iteration)) {
        names[{series.collection, fact.iteration}].insert(series.name);
        observer.addTick("tensors of " + series.collection, observer.tick(fact.iteration));
      }
  }
  for (const auto& [at, recorded] : names)
    observer.addText({"names", at.first, "names"},
                     "tensors of " + at.first,
                     observer.tick(at.second),
                     fmt::format("{}", fmt::join(recorded, "\n")));
}

void observeScalars(const ProcessFacts& facts, Observer& observer) {
  for (const auto& [name, series] : facts.scalars) {
    Recent recent;
    const std::string subject = "scalar " + name;
    for (const SeriesValue& each : series.values) {
      if (!observer.observes(each.iteration))
        continue;
      const Tick tick = observer.tick(each.iteration);
      observer.addTick("scalars", tick);
      const auto text = [&](const char* measure, std::string value) {
        observer.addText({"scalars", subject, measure}, "scalars", tick, std::move(value));
      };
      text("recordings", std::to_string(each.count));
      text("finite", std::isfinite(each.value) ? "yes" : "no");
      if (!std::isfinite(each.value))
        continue;
      observer.addNumber({"scalars", subject, "value"}, "scalars", tick, each.value);
      if (const auto ratio = recent.ratio(each.value))
        observer.addNumber({"scalars", subject, "value / recent value"}, "scalars", tick, *ratio);
    }
  }
}

}  // namespace sonde::rules
