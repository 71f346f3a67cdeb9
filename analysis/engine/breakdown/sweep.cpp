#include "analysis/engine/breakdown/sweep.h"

#include "analysis/engine/breakdown/active_sets.h"
#include "analysis/engine/breakdown/loser_tree.h"
#include "analysis/engine/breakdown/pair_table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

// Walks through the begins and ends of a track.
class Cursor {
 public:
  explicit Cursor(const Track& track) noexcept
      : next_(track.times().data()),
        end_(next_ + track.times().size()),
        label_(track.labels().data()) {}

  std::int64_t ns() const noexcept { return next_ == end_ ? LoserTree::kEnded : *next_; }
  Label label() const noexcept { return *label_; }
  bool begins() const noexcept { return begins_; }
  void advance() noexcept {
    ++next_;
    label_ += begins_ ? 0 : 1;
    begins_ = !begins_;
  }

 private:
  const std::int64_t* next_;
  const std::int64_t* end_;
  const Label* label_;
  bool begins_ = true;
};

struct Total {
  std::int64_t ns = 0;
  std::int64_t firstNs = 0;
  std::int64_t lastNs = 0;
};

class Sweep {
 public:
  explicit Sweep(std::size_t labels) : sets_(labels), counts_(labels, 0) {}

  void run(std::vector<Cursor> cursors) {
    std::vector<std::int64_t> first;
    first.reserve(cursors.size());
    for (const Cursor& cursor : cursors)
      first.push_back(cursor.ns());
    LoserTree next(first);
    nowNs_ = next.value();
    for (; next.value() != LoserTree::kEnded; next.replace(cursors[next.sequence()].ns())) {
      passTo(next.value());
      Cursor& cursor = cursors[next.sequence()];
      change(cursor.label(), cursor.begins());
      cursor.advance();
    }
  }

  SweepResult result() const;

 private:
  void passTo(std::int64_t ns) {
    if (ns == nowNs_)
      return;
    Total& total = totals_[set_];
    if (total.ns == 0)
      total.firstNs = nowNs_;
    total.ns += ns - nowNs_;
    total.lastNs = ns;
    nowNs_ = ns;
    if (set_ == lastSet_)
      return;
    if (lastSet_ != kNothingYet)
      ++transitions_(lastSet_, set_);
    lastSet_ = set_;
  }

  void change(Label label, bool begins) {
    std::uint32_t& count = counts_[label];
    const bool toggles = count == (begins ? 0U : 1U);
    count += begins ? 1U : ~0U;
    if (!toggles)
      return;
    set_ = sets_.toggled(set_, label);
    if (set_ >= totals_.size())
      totals_.resize(sets_.size());
  }

  static constexpr ActiveSets::Set kNothingYet = ~ActiveSets::Set{0};

  ActiveSets sets_;
  std::vector<std::uint32_t> counts_;                  // by label: number of tracks it is active on
  std::vector<Total> totals_ = std::vector<Total>(1);  // by set
  PairTable transitions_;                              // each value is one less than the count
  ActiveSets::Set set_ = ActiveSets::kEmpty;
  ActiveSets::Set lastSet_ = kNothingYet;  // the last set that was active for some time
  std::int64_t nowNs_ = 0;
};

SweepResult Sweep::result() const {
  std::vector<ActiveSets::Set> order;
  for (ActiveSets::Set set = 0; set < totals_.size(); ++set)
    if (set != ActiveSets::kEmpty && totals_[set].ns > 0)
      order.push_back(set);
  std::sort(order.begin(), order.end(), [this](ActiveSets::Set a, ActiveSets::Set b) {
    return totals_[a].firstNs < totals_[b].firstNs;
  });
  order.insert(order.begin(), ActiveSets::kEmpty);
  SweepResult result;
  result.made = sets_.made();
  std::vector<std::size_t>& places = result.places;
  places.resize(sets_.size(), SweepResult::kNotThere);
  for (const ActiveSets::Set set : order) {
    places[set] = result.sets.size();
    const Total& total = totals_[set];
    result.sets.push_back({total.ns, total.firstNs, total.lastNs});
  }
  transitions_.forEach([&](const PairTable::Entry& entry) {
    result.transitions.push_back({places[entry.first], places[entry.second], entry.value + 1});
  });
  std::sort(result.transitions.begin(),
            result.transitions.end(),
            [](const Transition& a, const Transition& b) {
              return std::pair(a.from, a.to) < std::pair(b.from, b.to);
            });
  return result;
}

}  // namespace

SweepResult sweep(const std::vector<Track>& tracks) {
  std::size_t labels = 0;
  std::vector<Cursor> cursors;
  for (const Track& track : tracks) {
    if (track.empty())
      continue;
    cursors.emplace_back(track);
    labels = std::max<std::size_t>(
        labels, *std::max_element(track.labels().begin(), track.labels().end()) + std::size_t{1});
  }
  Sweep sweep(labels);
  sweep.run(std::move(cursors));
  return sweep.result();
}

}  // namespace sonde::engine::breakdown
