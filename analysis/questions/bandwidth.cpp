#include "analysis/questions/bandwidth.h"

#include "base/text/quantity.h"

#include <fmt/format.h>

namespace sonde::questions {

Result<std::int64_t> parseBandwidth(std::string_view text) {
  constexpr long double kByte = 8;
  constexpr Unit kUnits[] = {{"bit/s", 1},
                             {"bit", 1},
                             {"kbit/s", 1e3L},
                             {"kbit", 1e3L},
                             {"mbit/s", 1e6L},
                             {"mbit", 1e6L},
                             {"gbit/s", 1e9L},
                             {"gbit", 1e9L},
                             {"tbit/s", 1e12L},
                             {"tbit", 1e12L},
                             {"b/s", kByte},
                             {"kb/s", kByte * 1e3L},
                             {"mb/s", kByte * 1e6L},
                             {"gb/s", kByte * 1e9L}};
  const auto bits = parseQuantity(text, kUnits);
  if (bits && *bits > 0)
    return *bits;
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("{} is not a bandwidth: give a number with Mbit/s, Gbit/s, MB/s or GB/s, "
                  "as in 200Mbit/s",
                  text)};
}

}  // namespace sonde::questions
