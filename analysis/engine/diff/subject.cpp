#include "analysis/engine/diff/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace sonde::engine::diff {
namespace {

struct Comparable {
  std::string_view word;
  bool Dimensions::*flag;
};
constexpr std::array<Comparable, 6> kComparable = {{{"operation", &Dimensions::operation},
                                                    {"kernel", &Dimensions::kernel},
                                                    {"phase", &Dimensions::phase},
                                                    {"module", &Dimensions::module},
                                                    {"category", &Dimensions::category},
                                                    {"rank", &Dimensions::rank}}};

}  // namespace

Result<Dimensions> dimensionsOf(const std::vector<std::string>& words) {
  Dimensions by;
  for (const std::string& word : words) {
    const auto* const known = std::find_if(kComparable.begin(),
                                           kComparable.end(),
                                           [&](const auto& each) { return each.word == word; });
    if (known == kComparable.end()) {
      std::vector<std::string_view> all;
      std::transform(
          kComparable.begin(), kComparable.end(), std::back_inserter(all), [](const auto& each) {
            return each.word;
          });
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("cannot compare by '{}': use {}", word, fmt::join(all, ", "))};
    }
    by.*known->flag = true;
  }
  return by;
}

bool isObserved(Kind kind, const Dimensions& by) noexcept {
  switch (kind) {
    case Kind::Iteration:
      return true;
    case Kind::Host:
    case Kind::Compute:
    case Kind::Copy:
    case Kind::Comm:
      return by.operation;
    case Kind::Kernel:
      return by.kernel;
    case Kind::Phase:
      return by.phase;
    case Kind::Module:
      return by.module;
    case Kind::Category:
      break;
  }
  return by.category;
}

}  // namespace sonde::engine::diff
