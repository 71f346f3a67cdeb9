// Maps the trace's time to pixels of the timeline.
//
// Times stay int64 nanoseconds. A pixel is computed from the distance to the window's left edge,
// never from an absolute time. So a trace days after its clock's zero is as sharp as one at zero,
// and panning there and back ends at the start. A plain value; copy it to the thread that needs it.
#pragma once

#include <cstdint>

namespace sonde::gui {

class Viewport {
 public:
  static constexpr std::int64_t kMinSpanNs = 100;

  // The span of the whole trace; shows all of it. Requires: begin <= end.
  void setBounds(std::int64_t beginNs, std::int64_t endNs);
  // Keeps the window's left edge and span. Requires: width > 0.
  void setWidth(int pixels);

  [[nodiscard]] std::int64_t beginNs() const { return begin_; }
  [[nodiscard]] std::int64_t endNs() const { return begin_ + span_; }
  [[nodiscard]] std::int64_t spanNs() const { return span_; }
  [[nodiscard]] std::int64_t boundsBeginNs() const { return boundsBegin_; }
  [[nodiscard]] std::int64_t boundsEndNs() const { return boundsEnd_; }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] double nsPerPixel() const;

  // The pixel of a time, with its fraction; may be far outside of the window.
  [[nodiscard]] double xAt(std::int64_t ns) const;
  // The time at the left edge of pixel `x`, rounded to the nearest nanosecond.
  [[nodiscard]] std::int64_t timeAt(double x) const;

  // Scales the span by `factor` (< 1 zooms in); the time at pixel `x` stays there.
  void zoomAt(double x, double factor);
  // Moves the window to the right by `pixels`.
  void panPixels(double pixels);
  void panNs(std::int64_t ns);
  // Shows [begin, end) with a margin of `marginShare` of its length on each side.
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
