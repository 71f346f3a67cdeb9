#include "analysis/ingest/import/process_label.h"

#include "analysis/ingest/input/ascii.h"
#include "analysis/ingest/input/rank_in_name.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

namespace sonde::ingest {
namespace {

// kineto's names for its own rows.
bool isOwn(std::string_view word) noexcept {
  return word.empty() || word == "Spans" || word == "Traces";
}

struct Parts {
  std::string_view group;  // before the last word, without separators
  std::string_view last;
};

Parts partsOf(std::string_view text) noexcept {
  constexpr std::string_view kSeparators = " :/|";
  const std::size_t at = text.find_last_of(kSeparators);
  if (at == std::string_view::npos)
    return {{}, text};
  const std::size_t end = text.substr(0, at).find_last_not_of(kSeparators) + 1;
  return {text.substr(0, end), text.substr(at + 1)};
}

bool isOfLegacyPyTorch(std::string_view text) noexcept {
  return text.ends_with(" functions");
}

// "TP" and 0 for "[TP00]"; unset: another kind of text.
std::optional<std::pair<std::string_view, std::int64_t>> dimensionOf(
    std::string_view group) noexcept {
  if (group.size() > 1 && group.front() == '[' && group.back() == ']')
    group = group.substr(1, group.size() - 2);
  const std::size_t digits =
      static_cast<std::size_t>(std::find_if(group.begin(), group.end(), isDigit) - group.begin());
  const std::string_view word = group.substr(0, digits);
  std::int64_t number = 0;
  const char* const last = group.data() + group.size();
  const auto [end, error] = std::from_chars(group.data() + digits, last, number);
  if (word.empty() || !std::all_of(word.begin(), word.end(), isLetter) || error != std::errc{} ||
      end != last)
    return {};
  return std::pair(word, number);
}

model::OptionalInt rankOfGroup(std::string_view group, std::string_view dimension) {
  if (const auto rank = rankInName(group))
    return rank;
  const auto parts = dimensionOf(group);
  return parts && parts->first == dimension ? model::OptionalInt(parts->second)
                                            : model::OptionalInt();
}

}  // namespace

bool namesProcess(const Label& pid) noexcept {
  if (pid.number)
    return *pid.number > 0;
  return !isOwn(partsOf(pid.text).last);
}

std::string_view groupOfLabel(const Label& pid) noexcept {
  if (pid.number || isOfLegacyPyTorch(pid.text))
    return {};
  const auto [group, last] = partsOf(pid.text);
  const bool endsInNumber = !last.empty() && std::all_of(last.begin(), last.end(), isDigit);
  const bool tellsRanks = std::any_of(group.begin(), group.end(), isDigit);
  if (isOwn(last))
    return group;
  return endsInNumber && tellsRanks ? group : pid.text;
}

std::vector<std::int64_t> ranksOfGroups(const std::vector<std::string>& groups) {
  if (groups.empty())
    return {};
  const auto first = dimensionOf(groups.front());
  std::vector<std::int64_t> ranks;
  for (const std::string& group : groups)
    if (const auto rank = rankOfGroup(group, first ? first->first : std::string_view()))
      ranks.push_back(*rank);
  const bool isClear = ranks.size() == groups.size() &&
                       std::set<std::int64_t>(ranks.begin(), ranks.end()).size() == ranks.size();
  return isClear ? ranks : std::vector<std::int64_t>();
}

}  // namespace sonde::ingest
