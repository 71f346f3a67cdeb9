#include "gui/trace/time_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace sonde::gui {
namespace {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kClockFrom = 2 * kMinute;  // from here on m:ss is more readable than seconds

struct Unit {
  std::int64_t ns;
  const char* name;
  int decimals;  // digits down to a nanosecond
};
constexpr std::array kUnits = {
    Unit{kSecond, "s", 9}, Unit{kMs, "ms", 6}, Unit{kUs, "µs", 3}, Unit{1, "ns", 0}};

const Unit& unitFor(std::int64_t ns) {
  const std::int64_t size = std::llabs(ns);
  const auto* found =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) { return size >= unit.ns; });
  return found == kUnits.end() ? kUnits.back() : *found;
}

// The decimals of `unit` needed to show steps of `resolutionNs`.
int decimalsFor(const Unit& unit, std::int64_t resolutionNs) {
  int decimals = unit.decimals;
  for (std::int64_t step = std::max<std::int64_t>(resolutionNs, 1);
       step >= 10 && step % 10 == 0 && decimals > 0;
       step /= 10)
    --decimals;
  return decimals;
}

QString decimal(std::int64_t ns, const Unit& unit, int decimals) {
  const bool negative = ns < 0;
  std::int64_t cut = 1;
  for (int digit = decimals; digit < unit.decimals; ++digit)
    cut *= 10;
  const std::int64_t size = (std::llabs(ns) + cut / 2) / cut * cut;
  QString text = QString::number(size / unit.ns);
  if (decimals > 0)
    text += QLatin1Char('.') +
            QString::number(size % unit.ns).rightJustified(unit.decimals, '0').left(decimals);
  return (negative ? QStringLiteral("−") : QString()) + text;
}

QString clock(std::int64_t ns, std::int64_t resolutionNs) {
  const std::int64_t minutes = ns / kMinute;
  const std::int64_t rest = ns % kMinute;
  const QString seconds = decimal(rest, kUnits[0], decimalsFor(kUnits[0], resolutionNs));
  const QString padded = rest < 10 * kSecond ? "0" + seconds : seconds;
  if (minutes < 60)
    return QStringLiteral("%1:%2").arg(minutes).arg(padded);
  return QStringLiteral("%1:%2:%3")
      .arg(minutes / 60)
      .arg(minutes % 60, 2, 10, QChar('0'))
      .arg(padded);
}

// `largestNs` determines the unit, so that all marks of an axis share one.
QString timeText(std::int64_t ns, std::int64_t largestNs, std::int64_t resolutionNs) {
  if (ns == 0)
    return QStringLiteral("0");
  if (largestNs >= kClockFrom && ns > 0)
    return clock(ns, resolutionNs);
  const Unit& unit = unitFor(largestNs);
  return decimal(ns, unit, decimalsFor(unit, resolutionNs)) + QChar(0xa0) + unit.name;
}

std::int64_t niceStep(std::int64_t atLeastNs) {
  constexpr std::array<std::int64_t, 14> kClockSteps = {
      1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200};
  if (atLeastNs > kSecond) {
    for (const std::int64_t step : kClockSteps)
      if (step * kSecond >= atLeastNs)
        return step * kSecond;
    return (atLeastNs / (3600 * kSecond) + 1) * 3600 * kSecond;
  }
  std::int64_t power = 1;
  while (power * 10 <= atLeastNs)
    power *= 10;
  for (const std::int64_t factor : {1, 2, 5})
    if (power * factor >= atLeastNs)
      return power * factor;
  return power * 10;
}

std::int64_t minorStep(std::int64_t step) {
  if (step < 5)
    return step;
  if (step % (3 * kSecond) == 0)
    return step / 3;
  std::int64_t lead = step;
  while (lead >= 10)
    lead /= 10;
  return lead == 2 ? step / 4 : step / 5;
}

}  // namespace

QString formatDuration(std::int64_t ns) {
  if (std::llabs(ns) >= kClockFrom)
    return (ns < 0 ? QStringLiteral("−") : QString()) +
           QStringLiteral("%1 min %2 s")
               .arg(std::llabs(ns) / kMinute)
               .arg(std::llabs(ns) % kMinute / kSecond, 2, 10, QChar('0'));
  const Unit& unit = unitFor(ns);
  const std::int64_t whole = std::llabs(ns) / unit.ns;
  const int digits = whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
  return decimal(ns, unit, std::min(digits, unit.decimals)) + QChar(0xa0) + unit.name;
}

QString formatTime(std::int64_t ns, std::int64_t resolutionNs) {
  return timeText(ns, std::llabs(ns), niceStep(std::max<std::int64_t>(resolutionNs, 1)));
}

QString formatExactNs(std::int64_t ns) {
  QString digits = QString::number(std::llabs(ns));
  for (qsizetype at = digits.size() - 3; at > 0; at -= 3)
    digits.insert(at, QChar(0x202f));
  return (ns < 0 ? QStringLiteral("−") : QString()) + digits + QStringLiteral(" ns");
}

QString formatBytes(std::int64_t bytes) {
  constexpr std::array kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kNames.size()) {
    value /= 1024.0;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 100.0 || value == std::floor(value) ? 0 : 1;
  return QString::number(value, 'f', decimals) + QChar(0xa0) + kNames[unit];
}

QString formatQuantity(double value, const QString& unit) {
  constexpr double kThousand = 1000.0;
  const bool isRate = unit.endsWith(QStringLiteral("/s"));
  const QString each = isRate ? unit.chopped(2) : unit;
  const QString end = isRate ? QStringLiteral("/s") : QString();
  if (each == u"bytes")
    return formatBytes(std::llround(value)) + end;
  if (each == u"ns" && !isRate)
    return formatDuration(std::llround(value));
  static constexpr std::array kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  const bool isPlain = each == u"%" || each == u"C";
  // Four digits of a number of things are more readable than a prefix.
  const double most = each == u"1" || each == u"packets" ? 10 * kThousand : kThousand;
  while (!isPlain && std::abs(value) >= most && prefix + 1 < kPrefixes.size()) {
    value /= kThousand;
    ++prefix;
  }
  const double size = std::abs(value);
  const int decimals = size >= 100.0 || value == std::floor(value) ? 0 : size >= 10.0 ? 1 : 2;
  QString name = each == u"1" ? QString() : each == u"C" ? QStringLiteral("°C") : each;
  name.prepend(QLatin1String(kPrefixes.at(prefix)));
  name += end;
  const QString number = QString::number(value, 'f', decimals);
  return name.isEmpty() ? number : number + QChar(0xa0) + name;
}

std::int64_t tickStepNs(double nsPerPixel, int minLabelPx) {
  const double wanted = std::ceil(nsPerPixel * minLabelPx);
  return niceStep(std::max<std::int64_t>(static_cast<std::int64_t>(wanted), 1));
}

std::vector<Tick> ticks(std::int64_t beginNs, std::int64_t endNs, int width, int minLabelPx) {
  const double nsPerPixel = static_cast<double>(endNs - beginNs) / width;
  const std::int64_t step = tickStepNs(nsPerPixel, minLabelPx);
  const std::int64_t minor = minorStep(step);
  const std::int64_t largest = std::max(std::llabs(beginNs), std::llabs(endNs));
  std::int64_t at = beginNs / minor * minor;
  if (at < beginNs)
    at += minor;
  std::vector<Tick> result;
  for (; at <= endNs; at += minor)
    result.push_back({at, at % step == 0 ? timeText(at, largest, step) : QString()});
  return result;
}

}  // namespace sonde::gui
