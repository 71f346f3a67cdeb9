#include "base/text/byte_size.h"

#include "base/text/quantity.h"

#include <fmt/format.h>

namespace sonde {

Result<std::uint64_t> parseByteSize(std::string_view text) {
  constexpr Unit kUnits[] = {{"", 1},
                             {"b", 1},
                             {"kb", 1e3L},
                             {"mb", 1e6L},
                             {"gb", 1e9L},
                             {"tb", 1e12L},
                             {"kib", 1024},
                             {"mib", 1024.L * 1024},
                             {"gib", 1024.L * 1024 * 1024},
                             {"tib", 1024.L * 1024 * 1024 * 1024}};
  if (const auto bytes = parseQuantity(text, kUnits))
    return static_cast<std::uint64_t>(*bytes);
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{} is not a size: give a number of bytes, or one with kB, MB, GB, KiB, "
                           "MiB or GiB, as in 512MiB or 1.5GB",
                           text)};
}

}  // namespace sonde
