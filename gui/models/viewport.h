// Which part of the trace's time lies under which pixels of the timeline.
//
// Times are int64 nanoseconds and stay so: a pixel is computed from the distance to the window's
// left edge, never from an absolute time, so that a trace days after its clock's zero is as sharp
// as one at zero, and panning there and back ends where it began. A plain value; copy it to the
// thread that needs it.
#pragma once

#include <cstdint>

namespace sonde::gui {

class Viewport {
 public:
  static constexpr std::int64_t kMinSpanNs = 100;

  // The span of the whole trace. Requires: begin <= end. Shows all of it.
  void setBounds(std::int64_t beginNs, std::int64_t endNs);
  // The window keeps its left edge and span; Requires: width > 0.
  void setWidth(int pixels);

  [[nodiscard]] std::int64_t beginNs() const { return begin_; }
  [[nodiscard]] std::int64_t endNs() const { return begin_ + span_; }
  [[nodiscard]] std::int64_t spanNs() const { return span_; }
  [[nodiscard]] std::int64_t boundsBeginNs() const { return boundsBegin_; }
  [[nodiscard]] std::int64_t boundsEndNs() const { return boundsEnd_; }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] double nsPerPixel() const;

  // The pixel of a time, with its fraction; beyond the window it goes on and may be far outside.
  [[nodiscard]] double xAt(std::int64_t ns) const;
  // The time at the left edge of pixel `x`, rounded to the nearest nanosecond.
  [[nodiscard]] std::int64_t timeAt(double x) const;

  // Scales the span by `factor` (< 1 zooms in) and keeps the time under pixel `x` there.
  void zoomAt(double x, double factor);
  // Moves the window later by `pixels`.
  void panPixels(double pixels);
  void panNs(std::int64_t ns);
  // Shows [begin, end) with a margin of `marginShare` of it on each side.
  void show(std::int64_t beginNs, std::int64_t endNs, double marginShare = 0.0);
  void fit();
  [[nodiscard]] bool showsAll() const;

  bool operator==(const Viewport&) const = default;

 private:
  [[nodiscard]] std::int64_t maxSpan() const;
  void clamp();

  std::int64_t boundsBegin_ = 0;
  std::int64_t boundsEnd_ = kMinSpanNs;
  std::int64_t begin_ = 0;
  std::int64_t span_ = kMinSpanNs;
  int width_ = 1;
};

}  // namespace sonde::gui
