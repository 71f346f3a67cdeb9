#include "rules/learned/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::rules {
namespace {

constexpr std::size_t kMostShown = 120;  // bytes

std::string textOf(const OneOf& form) {
  std::string text;
  for (const std::string& value : form.values)
    text += (text.empty() ? "" : " or ") + shortened(value);
  return text;
}

std::string textOf(const Path& form) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double value : form.values)
    if (!std::isnan(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  return low == high ? fmt::format("{:.6g} in each iteration", low)
                     : fmt::format("the same in every run, between {:.6g} and {:.6g}", low, high);
}

std::string textOf(const Law& form) {
  std::string text = "by momentum, gradient and decay";
  for (auto each = form.factors.rbegin(); each != form.factors.rend(); ++each)
    if (!std::isnan(each->front()))
      return text + fmt::format(", at last with the factors {:.4g}, {:.4g} and {:.4g}",
                                (*each)[0],
                                (*each)[1],
                                (*each)[2]);
  return text;
}

std::string textOf(const Range& form) {
  const Stage& last = form.stages.back();
  std::string text = fmt::format(
      "{:.4g} to {:.4g} in iterations {}-{}", last.low, last.high, last.first, last.last);
  if (form.stages.size() > 1)
    text += fmt::format(", and {} earlier ranges", form.stages.size() - 1);
  return text;
}

}  // namespace

const char* wordOf(Dropped reason) {
  switch (reason) {
    case Dropped::NotInEveryRun:
      return "not in every run";
    case Dropped::TooFewSamples:
      return "too few samples";
    case Dropped::Varies:
      return "varies";
    case Dropped::NotFinite:
      return "not finite";
    case Dropped::NoLaw:
      return "no linear law";
    case Dropped::BrokenByHeldOut:
      return "broken by a held-out run";
  }
  return "";
}

std::string textOf(const Invariant& invariant) {
  return std::visit([](const auto& form) { return textOf(form); }, invariant.form);
}

std::string shortened(const std::string& text) {
  std::string shown;
  for (const char each : text)
    if (each == '\n')
      shown += " > ";
    else
      shown += each;
  if (shown.size() <= kMostShown)
    return shown.empty() ? "nothing" : shown;
  std::size_t end = kMostShown;
  while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80)
    --end;  // not within a character
  return shown.substr(0, end) + "…";
}

}  // namespace sonde::rules
