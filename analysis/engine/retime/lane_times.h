// Where the times of a thread or stream lie after its nodes have moved. A plain value; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::engine::retime {

// The nodes of a lane divide its time. Times between two of their ends move in proportion; times
// before the first and after the last move with it. Times never change their order.
class LaneTimes {
 public:
  struct Span {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
  };

  // Requires: nodes by their measured begin.
  void addNode(Span measured, Span moved);
  bool isEmpty() const noexcept { return points_.empty(); }

  // A node that ends and the next one that begins at the same measured time may come apart: the
  // time is then that of the next node for something that begins, and of the first one for
  // something that ends.
  std::int64_t beginAt(std::int64_t measuredNs) const;
  std::int64_t endAt(std::int64_t measuredNs) const;

 private:
  struct Point {
    std::int64_t measuredNs;
    std::int64_t endNs;    // moved, of what ends there
    std::int64_t beginNs;  // moved, of what begins there; not before endNs
  };

  void addPoint(std::int64_t measuredNs, std::int64_t movedNs);
  std::int64_t between(std::vector<Point>::const_iterator next, std::int64_t measuredNs) const;

  std::vector<Point> points_;  // by measured time
};

}  // namespace sonde::engine::retime
