#include "analysis/ingest/operations/operation_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

namespace sonde::ingest {
namespace {

constexpr std::int64_t kLargest = 1 << 20;  // keeps the product in 64 bits

Error unreadable(std::string_view text) {
  return {
      ErrorCode::InvalidArgument,
      fmt::format(
          "'{}' is not a layout: give sizes from 1 to {}, like dp=4,pp=4,tp=2", text, kLargest)};
}

}  // namespace

Result<OperationLayout> parseLayout(std::string_view text) {
  OperationLayout layout;
  struct Size {
    std::string_view name;
    std::int64_t* into;
  };
  const Size sizes[] = {
      {"dp=", &layout.dataParallel}, {"pp=", &layout.pipeline}, {"tp=", &layout.tensorParallel}};
  std::set<std::string_view> seen;
  for (std::string_view rest = text; !rest.empty() || seen.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    const auto* const size =
        std::find_if(std::begin(sizes), std::end(sizes), [=](const Size& each) {
          return part.starts_with(each.name);
        });
    const bool isLast = comma == rest.size();
    if (size == std::end(sizes) || !seen.insert(size->name).second)
      return unreadable(text);
    const std::string_view digits = part.substr(size->name.size());
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, *size->into);
    if (read.ec != std::errc{} || read.ptr != end || *size->into < 1 || *size->into > kLargest)
      return unreadable(text);
    rest.remove_prefix(isLast ? comma : comma + 1);
    if (!isLast && rest.empty())  // a comma at the end
      return unreadable(text);
  }
  return layout;
}

}  // namespace sonde::ingest
