#include "analysis/engine/whatif/compute/device_peaks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace sonde::engine::whatif {
namespace {

// From the vendors' data sheets: Tesla P100 (2016), V100 (2020), T4 (2019), A100 (2022), L40S
// (2023), H100 (2024), H200 (2024), DGX B200 (2024, an eighth of it); AMD Instinct MI250X (2021),
// MI300X (2023). Where a sheet has peaks with sparsity alone, half of it. Devices without TF32
// multiply such matrices at their peak of four-byte numbers. A longer name comes before the name
// that it contains.
constexpr std::array kPeaks = {DevicePeaks{"P100", "NVIDIA", 732, 10'600, 10'600, 21'200},
                               DevicePeaks{"V100", "NVIDIA", 900, 15'700, 15'700, 125'000},
                               DevicePeaks{"T4", "NVIDIA", 320, 8'100, 8'100, 65'000},
                               DevicePeaks{"A100-80GB", "NVIDIA", 2'039, 19'500, 156'000, 312'000},
                               DevicePeaks{"A100", "NVIDIA", 1'555, 19'500, 156'000, 312'000},
                               DevicePeaks{"L40S", "NVIDIA", 864, 91'600, 183'000, 362'000},
                               DevicePeaks{"H100-PCIe", "NVIDIA", 2'000, 51'000, 378'000, 756'000},
                               DevicePeaks{"H100", "NVIDIA", 3'350, 67'000, 494'500, 989'000},
                               DevicePeaks{"H200", "NVIDIA", 4'800, 67'000, 494'500, 989'000},
                               DevicePeaks{"B200", "NVIDIA", 8'000, 75'000, 1'125'000, 2'250'000},
                               DevicePeaks{"MI250X", "AMD", 3'277, 47'900, 95'700, 383'000},
                               DevicePeaks{"MI300X", "AMD", 5'300, 163'400, 653'700, 1'307'400}};

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return lower;
}

// All of its parts, which a minus divides, occur in this order: "A100-80GB" in "A100-SXM4-80GB".
// The first part begins a word.
bool hasParts(std::string_view device, std::string_view name) {
  std::size_t from = 0;
  bool isFirst = true;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('-'));
    const std::size_t at = device.find(part, from);
    if (at == std::string_view::npos)
      return false;
    if (isFirst && at > 0 && std::isalnum(static_cast<unsigned char>(device[at - 1])) != 0)
      return false;
    isFirst = false;
    from = at + part.size();
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  return true;
}

}  // namespace

const DevicePeaks* peaksOf(std::string_view name) {
  const auto* found = std::find_if(kPeaks.begin(), kPeaks.end(), [&](const DevicePeaks& each) {
    return lowerCase(each.name) == lowerCase(name);
  });
  return found == kPeaks.end() ? nullptr : found;
}

const DevicePeaks* peaksOfDevice(std::string_view deviceName) {
  const std::string device = lowerCase(deviceName);
  const auto* found = std::find_if(kPeaks.begin(), kPeaks.end(), [&](const DevicePeaks& each) {
    return hasParts(device, lowerCase(each.name));
  });
  return found == kPeaks.end() ? nullptr : found;
}

std::string namesOfPeaks() {
  std::string names;
  for (const DevicePeaks& each : kPeaks)
    names.append(names.empty() ? "" : ", ").append(each.name);
  return names;
}

}  // namespace sonde::engine::whatif
