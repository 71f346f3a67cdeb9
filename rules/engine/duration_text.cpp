#include "rules/engine/duration_text.h"

#include <fmt/format.h>

namespace sonde::rules {

std::string durationText(double ns) {
  constexpr double kThousand = 999.5;  // has four digits when it is rounded
  if (ns < kThousand * 1e6)
    return fmt::format("{:.3g} ms", ns / 1e6);
  if (ns < kThousand * 1e9)
    return fmt::format("{:.3g} s", ns / 1e9);
  return fmt::format("{:.0f} s", ns / 1e9);
}

}  // namespace sonde::rules
