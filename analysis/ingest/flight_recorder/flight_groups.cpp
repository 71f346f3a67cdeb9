#include "analysis/ingest/flight_recorder/flight_groups.h"

#include "base/utf8.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace sonde::ingest {
namespace {

constexpr std::size_t kMostRanks = 1 << 20;

// "[0, 4, 8]" or a list of numbers. Empty: neither.
std::vector<std::int64_t> ranksOf(const Value& value) {
  std::vector<std::int64_t> ranks;
  for (std::size_t at = 0; at < std::min(value.size(), kMostRanks); ++at)
    if (const auto rank = value.at(at).integer())
      ranks.push_back(*rank);
  const std::string_view text = value.text().value_or("");
  for (std::size_t at = text.find_first_of("0123456789"); at < text.size();
       at = text.find_first_of("0123456789", at)) {
    std::int64_t rank = 0;
    const char* const begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), rank);
    if (error != std::errc{} || ranks.size() >= kMostRanks)
      return {};
    ranks.push_back(rank);
    at += static_cast<std::size_t>(end - begin);
  }
  return ranks;
}

void addConfigured(const Value& config, FlightGroups& groups) {
  for (std::size_t at = 0; at < config.size(); ++at) {
    const Value facts = config.value(at);
    FlightGroup group;
    group.name = toText(facts.find("name").text().value_or(config.key(at).text().value_or("")));
    group.description = toText(facts.find("desc").text().value_or(""));
    group.ranks = ranksOf(facts.isDict() ? facts.find("ranks") : facts);
    if (!group.name.empty())
      groups[group.name] = std::move(group);
  }
}

void addStatus(const Value& all, const FlightEntry& entry, FlightGroup& group) {
  if (!entry.localGroup || group.lastEnqueued || group.lastCompleted)
    return;
  const Value status = all.find(std::to_string(*entry.localGroup));
  group.lastEnqueued = status.find("last_enqueued_collective").integer();
  group.lastCompleted = status.find("last_completed_collective").integer();
}

// Old versions have no `pg_status`.
void addCounts(const FlightEntry& entry, FlightGroup& group) {
  group.hasMessages = group.hasMessages || !entry.seq || entry.p2pCalls > 0;
  if (!entry.seq)
    return;
  group.firstSeq = std::min(group.firstSeq.value_or(*entry.seq), *entry.seq);
  group.lastEnqueued = std::max(group.lastEnqueued.value_or(*entry.seq), *entry.seq);
  if (entry.isCompleted)
    group.lastCompleted = std::max(group.lastCompleted.value_or(*entry.seq), *entry.seq);
}

}  // namespace

FlightGroups flightGroupsOf(const Value& dump, const std::vector<FlightEntry>& entries) {
  FlightGroups groups;
  addConfigured(dump.find("pg_config"), groups);
  const Value status = dump.find("pg_status");
  for (const FlightEntry& entry : entries) {
    FlightGroup& group = groups[entry.group];
    group.name = entry.group;
    if (group.description.empty())
      group.description = entry.description;
    addStatus(status, entry, group);
  }
  for (const FlightEntry& entry : entries)
    addCounts(entry, groups[entry.group]);
  return groups;
}

bool mayBeRank(const FlightGroups& groups, std::int64_t rank) {
  return std::all_of(groups.begin(), groups.end(), [&](const auto& each) {
    const std::vector<std::int64_t>& ranks = each.second.ranks;
    return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  });
}

std::optional<std::int64_t> rankInAll(const FlightGroups& groups) {
  const FlightGroup* smallest = nullptr;
  for (const auto& [name, group] : groups)
    if (!group.ranks.empty() &&
        (smallest == nullptr || group.ranks.size() < smallest->ranks.size()))
      smallest = &group;
  std::optional<std::int64_t> found;
  if (smallest == nullptr)
    return found;
  for (const std::int64_t rank : smallest->ranks) {
    if (!mayBeRank(groups, rank))
      continue;
    if (found)
      return {};
    found = rank;
  }
  return found;
}

std::string JobGroups::keyOf(const FlightGroup& group) {
  std::string key = group.description.empty() || group.description == "undefined"
                        ? group.name
                        : fmt::format("{} {}", group.description, group.name);
  const auto [known, isNew] = ranks_.try_emplace(key, group.ranks);
  if (!isNew && known->second != group.ranks)
    key += fmt::format(" [{}]", fmt::join(group.ranks, ", "));
  return key;
}

}  // namespace sonde::ingest
