#include "analysis/ingest/input/rank_in_name.h"

#include "analysis/ingest/input/ascii.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <set>
#include <string>

namespace sonde::ingest {
namespace {

constexpr std::string_view kWord = "rank";
constexpr std::string_view kSeparators = "-_=. ";

// The word at the end of `text`, between separators: "local" in "worker_local_".
std::string_view wordBefore(std::string_view text) noexcept {
  const std::size_t end = text.find_last_not_of(kSeparators) + 1;
  std::size_t begin = end;
  while (begin > 0 && isLetter(text[begin - 1]))
    --begin;
  return text.substr(begin, end - begin);
}

// Whether a rank after this word counts within a part of the job only.
bool isOfAPart(std::string_view word) noexcept {
  constexpr std::string_view kParts[] = {
      "local", "node", "group", "dp",   "tp",     "pp",   "cp",     "ep",       "sp",    "dcp",
      "etp",   "edp",  "moe",   "data", "tensor", "pipe", "expert", "pipeline", "model", "context"};
  return std::find(std::begin(kParts), std::end(kParts), word) != std::end(kParts);
}

// The number at the start of the text after the word.
model::OptionalInt numberAt(std::string_view text) noexcept {
  if (!text.empty() && kSeparators.find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isRank = error == std::errc{} && number >= 0 && std::isdigit(text.front()) != 0;
  return isRank ? model::OptionalInt(number) : model::OptionalInt();
}

}  // namespace

model::OptionalInt rankInName(std::string_view fileName) {
  std::string name(fileName);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  const std::string_view text = name;
  std::set<std::int64_t> ranks;
  for (std::size_t at = text.find(kWord); at != text.npos; at = text.find(kWord, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const bool isWord = before.empty() || !isLetter(before.back());
    const auto number = numberAt(text.substr(at + kWord.size()));
    if (isWord && number && !isOfAPart(wordBefore(before)))
      ranks.insert(*number);
  }
  return ranks.size() == 1 ? model::OptionalInt(*ranks.begin()) : model::OptionalInt();
}

std::map<std::filesystem::path, std::int64_t> ranksInNames(
    const std::vector<std::filesystem::path>& files) {
  std::map<std::filesystem::path, std::int64_t> ranks;
  std::map<std::int64_t, int> counts;
  for (const std::filesystem::path& file : files) {
    const auto rank = rankInName(file.filename().string());
    if (rank && ranks.emplace(file, *rank).second)
      ++counts[*rank];
  }
  for (auto each = ranks.begin(); each != ranks.end();)
    each = counts[each->second] > 1 ? ranks.erase(each) : std::next(each);
  return ranks;
}

}  // namespace sonde::ingest
