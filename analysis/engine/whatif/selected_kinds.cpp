#include "analysis/engine/whatif/selected_kinds.h"

#include "analysis/model/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sonde::engine::whatif {
namespace {

// In the order of Part.
constexpr std::array<const char*, kParts> kWords = {
    "host", "kernel", "copy", "collective", "message"};

std::vector<std::string> sliceKinds() {
  std::vector<std::string> words;
  for (auto kind = static_cast<int>(model::SliceKind::Phase);
       kind <= static_cast<int>(model::SliceKind::Mark);
       ++kind)
    words.emplace_back(model::word(static_cast<model::SliceKind>(kind)));
  return words;
}

}  // namespace

Result<SelectedKinds> kindsOf(const Selector& selector) {
  SelectedKinds found;
  const auto glob = selector.globOf(Key::Kind);
  if (!glob) {
    found.parts.fill(true);
    return found;
  }
  bool isAny = false;
  for (std::size_t i = 0; i < kParts; ++i)
    isAny |= found.parts[i] = matches(*glob, kWords[i]);
  const std::vector<std::string> slices = sliceKinds();
  for (const std::string& each : slices)
    if (matches(*glob, each))
      found.slices.push_back(each);
  if (isAny || !found.slices.empty())
    return found;
  return Error{ErrorCode::InvalidArgument,
               fmt::format("'kind:{}' matches no kind; the kinds are {}, and of slices {}",
                           *glob,
                           fmt::join(kWords, ", "),
                           fmt::join(slices, ", "))};
}

}  // namespace sonde::engine::whatif
