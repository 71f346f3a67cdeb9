#include "gui/models/viewport.h"

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

// The part of the window that may be empty beside the trace, so that its first slice does not touch
// the edge.
constexpr std::int64_t kMarginParts = 50;

std::int64_t rounded(long double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

}  // namespace

void Viewport::setBounds(std::int64_t beginNs, std::int64_t endNs) {
  boundsBegin_ = beginNs;
  boundsEnd_ = std::max(endNs, beginNs + kMinSpanNs);
  fit();
}

void Viewport::setWidth(int pixels) {
  width_ = std::max(pixels, 1);
}

double Viewport::nsPerPixel() const {
  return static_cast<double>(static_cast<long double>(span_) / width_);
}

double Viewport::xAt(std::int64_t ns) const {
  return static_cast<double>(static_cast<long double>(ns - begin_) * width_ / span_);
}

std::int64_t Viewport::timeAt(double x) const {
  return begin_ + rounded(static_cast<long double>(x) * span_ / width_);
}

void Viewport::zoomAt(double x, double factor) {
  const std::int64_t anchor = timeAt(x);
  const long double wanted = static_cast<long double>(span_) * factor;
  span_ = std::clamp(wanted > maxSpan() ? maxSpan() : rounded(wanted), kMinSpanNs, maxSpan());
  begin_ = anchor - rounded(static_cast<long double>(x) * span_ / width_);
  clamp();
}

void Viewport::panPixels(double pixels) {
  panNs(rounded(static_cast<long double>(pixels) * span_ / width_));
}

void Viewport::panNs(std::int64_t ns) {
  begin_ += ns;
  clamp();
}

void Viewport::show(std::int64_t beginNs, std::int64_t endNs, double marginShare) {
  const std::int64_t inner = std::max(endNs - beginNs, kMinSpanNs);
  const std::int64_t margin = rounded(static_cast<long double>(inner) * marginShare);
  span_ = std::min(inner + 2 * margin, maxSpan());
  begin_ = beginNs + (endNs - beginNs) / 2 - span_ / 2;
  clamp();
}

void Viewport::fit() {
  span_ = maxSpan();
  begin_ = boundsBegin_ - span_ / kMarginParts;
  clamp();
}

bool Viewport::showsAll() const {
  return begin_ <= boundsBegin_ && endNs() >= boundsEnd_;
}

std::int64_t Viewport::maxSpan() const {
  const std::int64_t whole = boundsEnd_ - boundsBegin_;
  return whole + 2 * (whole / (kMarginParts - 2) + 1);
}

void Viewport::clamp() {
  span_ = std::clamp(span_, kMinSpanNs, maxSpan());
  const std::int64_t margin = span_ / kMarginParts + 1;
  const std::int64_t first = boundsBegin_ - margin;
  const std::int64_t last = std::max(first, boundsEnd_ + margin - span_);
  begin_ = std::clamp(begin_, first, last);
}

}  // namespace sonde::gui
