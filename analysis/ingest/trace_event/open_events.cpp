#include "analysis/ingest/trace_event/open_events.h"

#include "analysis/ingest/trace_event/small_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

constexpr std::size_t kInMemory = 100'000;  // records, 25 MB
constexpr std::size_t kWaitingBytes = std::size_t{1} << 20;
constexpr std::size_t kNoArgs = 2;  // "{}"
// Open events of one thread among which an end looks for its name, so that it ends.
constexpr std::size_t kSearched = 256;

// As it is written, were it no JSON, as NaN is none.
std::string_view textOf(od::value value) {
  std::string_view text;
  return simdjson::to_json_string(value).get(text) == simdjson::SUCCESS
             ? text
             : trimmed(value.raw_json_token());
}

// The members of an object, as they are written; of those with a key of `without` none.
std::string membersOf(const std::string& json, const std::set<std::string, std::less<>>& without) {
  std::string members;
  SmallJson parsed(json);
  eachMember(parsed.document, [&](std::string_view key, od::value value) {
    if (without.count(key) == 0)
      members += fmt::format("{}{}: {}",
                             members.empty() ? "" : ", ",
                             nlohmann::json(std::string(key)).dump(),
                             textOf(value));
  });
  return members;
}

// One object with the members of both; where both have one, that of the second.
std::string joined(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty())
    return first.empty() ? second : first;
  std::set<std::string, std::less<>> keys;
  SmallJson parsed(second);
  eachMember(parsed.document,
             [&](std::string_view key, od::value /*value*/) { keys.emplace(key); });
  const std::string before = membersOf(first, keys);
  const std::string after = membersOf(second, {});
  return fmt::format("{{{}{}{}}}", before, before.empty() || after.empty() ? "" : ", ", after);
}

}  // namespace

bool OpenEvents::ByTime::operator()(const Record& a, const Record& b) const noexcept {
  return std::tie(a.key, a.ns, a.number) < std::tie(b.key, b.ns, b.number);
}

OpenEvents::OpenEvents(const std::filesystem::path& folder)
    : records_(folder, kInMemory), spilled_(folder) {}

// What the records of one event have in common, as a number: there may be one for each event.
std::size_t OpenEvents::keyOf(const TraceEvent& event) {
  const bool asynchronous = event.phase == 'b' || event.phase == 'e';
  key_.assign(1, asynchronous ? 'b' : 'B').append(asynchronous ? event.category : event.pid.text);
  key_.append(1, '\n').append(asynchronous ? event.id.text : event.tid.text);
  if (asynchronous && event.idIsLocal)
    key_.append(1, '\n').append(event.pid.text);
  return std::hash<std::string>()(key_);
}

Result<void> OpenEvents::keepArgs(std::string_view json, Record& record) {
  if (json.size() <= kNoArgs)
    return {};
  if (waiting_.size() >= kWaitingBytes) {
    SONDE_TRY(spilled_.append(waiting_.data(), waiting_.size()));
    waiting_.clear();
  }
  record.argsAt = spilled_.size() + waiting_.size();
  record.argsBytes = json.size();
  waiting_.append(json);
  return {};
}

Result<std::string> OpenEvents::argsOf(const Record& record) const {
  if (record.argsAt >= spilled_.size())
    return waiting_.substr(record.argsAt - spilled_.size(), record.argsBytes);
  std::string json(record.argsBytes, '\0');
  SONDE_TRY(spilled_.read(record.argsAt, json.data(), json.size()));
  return json;
}

Result<void> OpenEvents::add(const TraceEvent& event, Record record) {
  record.key = keyOf(event);
  record.name = event.name.empty() ? 0 : std::hash<std::string_view>()(event.name);
  record.ns = *event.startNs;
  record.number = number_++;
  SONDE_TRY(keepArgs(event.args.json, record));
  return records_.add(record);
}

Result<void> OpenEvents::begin(const TraceEvent& event, OpenEvent open) {
  auto category = categories_.find(event.category);
  if (category == categories_.end())
    category = categories_.emplace(event.category).first;
  open.row.category = *category;
  Record record;
  record.open = open;
  return add(event, record);
}

Result<void> OpenEvents::end(const TraceEvent& event) {
  Record record;
  record.isEnd = true;
  return add(event, record);
}

// Requires: something is open.
OpenEvents::Record OpenEvents::takeEnded(std::vector<Record>& open, std::size_t name) {
  const auto furthest = open.size() > kSearched
                            ? open.rend() - static_cast<std::ptrdiff_t>(open.size() - kSearched)
                            : open.rend();
  auto found =
      name == 0 ? open.rbegin() : std::find_if(open.rbegin(), furthest, [=](const Record& each) {
        return each.name == name;
      });
  if (found == furthest)
    found = open.rbegin();
  const Record ended = *found;
  open.erase(std::next(found).base());
  return ended;
}

Result<void> OpenEvents::leaveOpen(std::vector<Record>& open,
                                   const Ended& ended,
                                   Counts& counts) const {
  for (const Record& record : open) {
    SONDE_TRY_ASSIGN(const std::string args, argsOf(record));
    SONDE_TRY(ended(record.open, {}, args));
  }
  counts.neverEnded += open.size();
  open.clear();
  return {};
}

Result<OpenEvents::Counts> OpenEvents::pair(const Ended& ended) {
  SONDE_TRY(records_.sort());
  Counts counts;
  std::vector<Record> open;  // of one key
  for (Record record{};;) {
    SONDE_TRY_ASSIGN(const bool more, records_.next(record));
    if (!open.empty() && (!more || open.back().key != record.key))
      SONDE_TRY(leaveOpen(open, ended, counts));
    if (!more)
      return counts;
    if (!record.isEnd) {
      open.push_back(record);
      continue;
    }
    if (open.empty()) {
      ++counts.neverBegun;
      continue;
    }
    const Record begun = takeEnded(open, record.name);
    SONDE_TRY_ASSIGN(const std::string first, argsOf(begun));
    SONDE_TRY_ASSIGN(const std::string second, argsOf(record));
    SONDE_TRY(ended(begun.open, record.ns - begun.ns, joined(first, second)));
  }
}

}  // namespace sonde::ingest
