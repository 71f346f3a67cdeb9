// Formats times, sizes and other quantities: the unit depends on the value, the digits on the
// resolution.
#pragma once

#include <QString>

#include <cstdint>
#include <vector>

namespace sonde::gui {

// "0 ns", "512 ns", "1.234 µs", "16.67 ms", "3.2 s", "2 min 05 s": four significant digits.
[[nodiscard]] QString formatDuration(std::int64_t ns);

// A time since the trace's begin, with every digit that is significant at `resolutionNs`: "1.204
// 350 s".
[[nodiscard]] QString formatTime(std::int64_t ns, std::int64_t resolutionNs);

// All digits, for the details: "1 234 567 ns".
[[nodiscard]] QString formatExactNs(std::int64_t ns);

// "0 B", "512 B", "1.5 KiB", "24 MiB".
[[nodiscard]] QString formatBytes(std::int64_t bytes);

// A value with its unit as counters have them: "3.2 GiB", "312 W", "45 %", "1.98 GHz", "12".
[[nodiscard]] QString formatQuantity(double value, const QString& unit);

// The marks of a time axis.
struct Tick {
  std::int64_t ns;
  QString label;  // empty: a minor mark
};

// Marks at 1, 2 or 5 × 10^n ns (and at 1, 2, 5, 10, 15, 30 s and minutes) inside [beginNs, endNs],
// relative to the trace's origin; labelled marks are at least `minLabelPx` apart. Requires: endNs >
// beginNs, width > 0.
[[nodiscard]] std::vector<Tick> ticks(std::int64_t beginNs,
                                      std::int64_t endNs,
                                      int width,
                                      int minLabelPx);

// The distance of labelled marks that `ticks` uses.
[[nodiscard]] std::int64_t tickStepNs(double nsPerPixel, int minLabelPx);

}  // namespace sonde::gui
