#include "analysis/engine/models/kernels/device_peaks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace sonde::engine::models {
namespace {

// From the vendors' data sheets: Tesla P100 (2016), V100 and V100S (2020), T4 (2019), A100 (2022),
// L40S (2023), H100, H100 NVL, H200 and H200 NVL (2024), DGX B200 (2024, an eighth of it); AMD
// Instinct MI250X (2021), MI300X (2023). Where a sheet has peaks with sparsity alone, half of it.
// Devices without TF32 multiply such matrices at their peak of four-byte numbers. ROCm shows an
// MI250X as two devices, each of which has half of its peaks. `half` is that with sums of four
// bytes, of bfloat16 if the device has it. A name with more parts comes before the one in it.
constexpr std::array kPeaks = {
    DevicePeaks{"P100", "NVIDIA", 56, 21'200, 732, 10'600, 10'600},
    DevicePeaks{"V100", "NVIDIA", 80, 125'000, 900, 15'700, 15'700},
    DevicePeaks{"V100S", "NVIDIA", 80, 130'000, 1'134, 16'400, 16'400},
    DevicePeaks{"T4", "NVIDIA", 40, 65'000, 320, 8'100, 8'100},
    DevicePeaks{"A100-80GB", "NVIDIA", 108, 312'000, 2'039, 19'500, 156'000},
    DevicePeaks{"A100", "NVIDIA", 108, 312'000, 1'555, 19'500, 156'000},
    DevicePeaks{"L40S", "NVIDIA", 142, 362'100, 864, 91'600, 183'000},
    DevicePeaks{"H100-PCIe", "NVIDIA", 114, 756'000, 2'000, 51'000, 378'000},
    DevicePeaks{"H100-NVL", "NVIDIA", 132, 835'000, 3'938, 60'000, 417'500},
    DevicePeaks{"H100", "NVIDIA", 132, 989'400, 3'350, 67'000, 494'700},
    DevicePeaks{"H200-NVL", "NVIDIA", 132, 835'500, 4'800, 60'000, 417'500},
    DevicePeaks{"H200", "NVIDIA", 132, 989'400, 4'800, 67'000, 494'700},
    DevicePeaks{"B200", "NVIDIA", 148, 2'250'000, 8'000, 75'000, 1'125'000},
    DevicePeaks{"MI250X", "AMD", 110, 191'500, 1'638, 23'900, 47'900},
    DevicePeaks{"MI300X", "AMD", 304, 1'307'400, 5'300, 163'400, 653'700},
    DevicePeaks{"A800", "NVIDIA", 108, 312'000},
    DevicePeaks{"A40", "NVIDIA", 84, 149'700},
    DevicePeaks{"A30", "NVIDIA", 56, 165'000},
    DevicePeaks{"A10G", "NVIDIA", 80, 70'000},
    DevicePeaks{"A10", "NVIDIA", 72, 125'000},
    DevicePeaks{"L40", "NVIDIA", 142, 181'000},
    DevicePeaks{"L4", "NVIDIA", 58, 121'000},
    DevicePeaks{"H800", "NVIDIA", 132, 989'400},
    DevicePeaks{"H20", "NVIDIA", 78, 148'000},
    DevicePeaks{"GH200", "NVIDIA", 132, 989'400},
    DevicePeaks{"GB200", "NVIDIA", 148, 2'500'000},
    DevicePeaks{"RTX 4090", "NVIDIA", 128, 165'200},
    DevicePeaks{"RTX 3090", "NVIDIA", 82, 71'000}};

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return lower;
}

bool isWordAt(std::string_view text, std::size_t begin, std::size_t end) {
  const auto isLetter = [&](std::size_t at) {
    return std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  return (begin == 0 || !isLetter(begin - 1)) && (end == text.size() || !isLetter(end));
}

// The end of the first such word behind `from`; npos: there is none.
std::size_t endOfWord(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos;
       at = text.find(word, at + 1))
    if (isWordAt(text, at, at + word.size()))
      return at + word.size();
  return std::string_view::npos;
}

// All of its parts, which a minus divides, are words of the device's name in this order: those of
// "A100-80GB" in "A100-SXM4-80GB".
bool hasParts(std::string_view device, std::string_view name) {
  std::size_t from = 0;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('-'));
    from = endOfWord(device, part, from);
    if (from == std::string_view::npos)
      return false;
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  return true;
}

const DevicePeaks* withAllPeaks(const DevicePeaks* found) {
  return found != nullptr && found->bandwidth > 0 ? found : nullptr;
}

}  // namespace

const DevicePeaks* knownDevice(std::string_view deviceName) {
  const std::string device = lowerCase(deviceName);
  const auto* found = std::find_if(kPeaks.begin(), kPeaks.end(), [&](const DevicePeaks& each) {
    return hasParts(device, lowerCase(each.name));
  });
  return found == kPeaks.end() ? nullptr : found;
}

const DevicePeaks* peaksOf(std::string_view name) {
  const auto* found = std::find_if(kPeaks.begin(), kPeaks.end(), [&](const DevicePeaks& each) {
    return lowerCase(each.name) == lowerCase(name);
  });
  return withAllPeaks(found == kPeaks.end() ? nullptr : found);
}

const DevicePeaks* peaksOfDevice(std::string_view deviceName) {
  return withAllPeaks(knownDevice(deviceName));
}

std::string namesOfPeaks() {
  std::string names;
  for (const DevicePeaks& each : kPeaks)
    if (withAllPeaks(&each) != nullptr)
      names.append(names.empty() ? "" : ", ").append(each.name);
  return names;
}

}  // namespace sonde::engine::models
