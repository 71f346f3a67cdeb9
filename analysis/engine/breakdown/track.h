// A sequence of intervals that do not overlap, each with a label for what was active: the work of
// one thread, or of one queue of a device. Plain value; times are nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::breakdown {

// The number that the maker of the tracks assigned to an activity.
using Label = std::uint32_t;

struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Label label = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

class Track {
 public:
  // Requires: `span` begins at the last one's end or later. Ignores a span that ends at or before
  // its begin. A span that continues the last one with the same label prolongs it.
  void add(const Span& span) {
    if (span.end <= span.begin)
      return;
    if (!labels_.empty() && times_.back() == span.begin && labels_.back() == span.label) {
      times_.back() = span.end;
      return;
    }
    times_.push_back(span.begin);
    times_.push_back(span.end);
    labels_.push_back(span.label);
  }

  std::size_t size() const noexcept { return labels_.size(); }
  bool empty() const noexcept { return labels_.empty(); }
  Span operator[](std::size_t at) const {
    return {times_[2 * at], times_[2 * at + 1], labels_[at]};
  }
  std::int64_t endNs() const { return times_.back(); }  // Requires: not empty

  // Alternating begins and ends, ascending.
  const std::vector<std::int64_t>& times() const noexcept { return times_; }
  const std::vector<Label>& labels() const noexcept { return labels_; }

 private:
  std::vector<std::int64_t> times_;
  std::vector<Label> labels_;
};

// Spans in any order, which may overlap. Returns as many tracks as they need.
std::vector<Track> tracksOf(std::vector<Span> spans);

}  // namespace sonde::engine::breakdown
