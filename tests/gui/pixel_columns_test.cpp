// Each pixel column of a row shows whether the row's slices cover time there, at every zoom.
#include "tests/gui/window_rig.h"

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace sonde::gui {
namespace {

constexpr std::int64_t kOriginNs = 1'000'000'000;
constexpr int kSlices = 40'000;

// Lengths from 50 ns to 2 ms, as many of each size.
class Lengths {
 public:
  std::int64_t next() { return static_cast<std::int64_t>(std::exp(distribution_(random_))); }

 private:
  std::mt19937_64 random_{7};
  std::uniform_real_distribution<double> distribution_{std::log(50.0), std::log(2e6)};
};

class PixelColumnsTest : public TimelineViewTest {
 protected:
  // A thread with slices in two rows.
  PixelColumnsTest() {
    testing::SampleTrace trace(path("columns.sonde"));
    const auto thread = trace.addThread(trace.addProcess(100, 0, "python3 train.py"), 100, "main");
    Lengths lengths;
    std::int64_t at = kOriginNs;
    for (int slice = 0; slice < kSlices; ++slice) {
      const Span outer{at, at + lengths.next()};
      const auto id = trace.addSlice(
          {thread, model::SliceKind::Operation, "outer", outer.beginNs, outer.durNs()});
      rows_[0].push_back(outer);
      if (outer.durNs() > 300) {
        const Span inner{outer.beginNs + 100, outer.beginNs + 100 + outer.durNs() / 3};
        trace.addSlice(
            {thread, model::SliceKind::Operation, "inner", inner.beginNs, inner.durNs(), 1, id});
        rows_[1].push_back(inner);
      }
      at = outer.endNs + lengths.next();
    }
    endNs_ = at;
    trace.finish();
    open("columns.sonde");
  }

  // The columns of the row that are not as empty as the space above the track.
  [[nodiscard]] std::vector<bool> painted(int row) {
    const TimelineGeometry place = window_.timeline().currentGeometry();
    const LayoutEntry& entry = *window_.models().timeline.layout().find(0);
    const int top = place.rowOf(entry).top();
    const int y = top + TrackLayout::kTrackPadding + (row + 1) * TrackLayout::kRowHeight - 3;
    const QImage image = window_.timeline().viewport()->grab().toImage();
    std::vector<bool> columns;
    for (int x = place.corner().x(); x < place.corner().x() + shown().width(); ++x)
      columns.push_back(image.pixel(x, y) != image.pixel(x, top + 1));
    return columns;
  }
  // The columns that slices touch.
  [[nodiscard]] std::vector<bool> covered(int row) {
    std::vector<bool> columns(static_cast<std::size_t>(shown().width()));
    for (const Span& slice : rows_.at(static_cast<std::size_t>(row))) {
      const double first = std::floor(shown().xAt(slice.beginNs));
      const double last = std::ceil(shown().xAt(slice.endNs));
      for (double x = std::max(first, 0.0); x < std::min(last, double(shown().width())); ++x)
        columns[static_cast<std::size_t>(x)] = true;
    }
    return columns;
  }
  struct Faults {
    int missing = 0;  // columns that a slice touches
    int filled = 0;   // untouched columns between touched ones
    int extra = 0;    // all others
  };
  [[nodiscard]] Faults faultsOf(int row) {
    const std::vector<bool> is = painted(row);
    const std::vector<bool> should = covered(row);
    Faults faults;
    for (std::size_t x = 0; x < is.size(); ++x) {
      const bool isHole = x > 0 && x + 1 < is.size() && should[x - 1] && should[x + 1];
      faults.missing += should[x] && !is[x] ? 1 : 0;
      if (!should[x] && is[x])
        ++(isHole ? faults.filled : faults.extra);
    }
    return faults;
  }
  // `mayFill`: the events were summed for a coarser view, as while a user zooms in.
  void expectAsCovered(const Span& span, bool mayFill) {
    window_.models().view.change(&Viewport::show, span.beginNs, span.endNs, 0.0);
    settle();
    for (int row = 0; row < 2; ++row) {
      const Faults faults = faultsOf(row);
      const std::string where = std::to_string(span.durNs()) + " ns from " +
                                std::to_string(span.beginNs - kOriginNs) + ", row " +
                                std::to_string(row);
      EXPECT_EQ(faults.missing, 0) << where;
      EXPECT_EQ(faults.extra, 0) << where;
      EXPECT_LE(faults.filled, mayFill ? shown().width() / 100 : 0) << where;
    }
  }

  std::array<std::vector<Span>, 2> rows_;
  std::int64_t endNs_ = 0;
};

TEST_F(PixelColumnsTest, EqualTheCoveredTimeAtEveryZoom) {
  std::mt19937_64 random(11);
  for (std::int64_t length = endNs_ - kOriginNs; length > 2'000; length = length * 3 / 5) {
    const std::int64_t room = endNs_ - kOriginNs - length;
    const std::int64_t begin =
        kOriginNs + (room > 0 ? static_cast<std::int64_t>(random() % std::uint64_t(room)) : 0);
    expectAsCovered({begin, begin + length}, false);
    expectAsCovered({begin + length / 8, begin + length / 8 + length * 3 / 4}, true);
  }
}

}  // namespace
}  // namespace sonde::gui
