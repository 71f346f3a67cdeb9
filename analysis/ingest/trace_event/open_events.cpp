#include "analysis/ingest/trace_event/open_events.h"

#include "analysis/ingest/trace_event/small_json.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <list>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

constexpr std::size_t kOpenInMemory = 100'000;  // records, 25 MB
constexpr std::size_t kWaitingBytes = std::size_t{1} << 20;
constexpr std::size_t kNoArgs = 2;  // "{}"

// The value as written, even if it is not JSON, such as NaN.
std::string_view writtenAs(od::value value) {
  std::string_view text;
  return simdjson::to_json_string(value).get(text) == simdjson::SUCCESS
             ? text
             : trimmed(value.raw_json_token());
}

// The members of an object as written, without those whose key is in `without`.
std::string membersOf(const std::string& json, const std::set<std::string, std::less<>>& without) {
  std::string members;
  SmallJson parsed(json);
  eachMember(parsed.document, [&](std::string_view key, od::value value) {
    if (without.count(key) == 0)
      members += fmt::format("{}{}: {}",
                             members.empty() ? "" : ", ",
                             nlohmann::json(std::string(key)).dump(),
                             writtenAs(value));
  });
  return members;
}

// One object with the members of both; for duplicates the second's.
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

// The open events of one key: all, and by name, in the order of their begins. The last of all is
// also the last with its name.
class OpenEvents::Stack {
 public:
  bool empty() const noexcept { return all_.empty(); }
  std::size_t key() const { return all_.back().key; }
  const std::list<Record>& all() const noexcept { return all_; }

  void push(const Record& record) {
    all_.push_back(record);
    byName_[record.name].push_back(std::prev(all_.end()));
  }
  // Removes the last of this name, else the last. Requires: one is open.
  Record take(std::size_t name) {
    auto named = name == 0 ? byName_.end() : byName_.find(name);
    if (named == byName_.end())
      named = byName_.find(all_.back().name);
    const auto last = named->second.back();
    named->second.pop_back();
    if (named->second.empty())
      byName_.erase(named);
    const Record record = *last;
    all_.erase(last);
    return record;
  }
  void clear() {
    all_.clear();
    byName_.clear();
  }

 private:
  std::list<Record> all_;
  std::unordered_map<std::size_t, std::vector<std::list<Record>::iterator>> byName_;
};

bool OpenEvents::ByTime::operator()(const Record& a, const Record& b) const noexcept {
  return std::tie(a.key, a.ns, a.number) < std::tie(b.key, b.ns, b.number);
}

OpenEvents::OpenEvents(const std::filesystem::path& folder)
    : records_(folder, kOpenInMemory), spilled_(folder) {}

// The common key of the records of one event, as a number: there may be a key per event.
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

Result<void> OpenEvents::leaveOpen(Stack& open, const Ended& ended, Counts& counts) const {
  for (const Record& record : open.all()) {
    SONDE_TRY_ASSIGN(const std::string args, argsOf(record));
    SONDE_TRY(ended(record.open, {}, args));
  }
  counts.neverEnded += open.all().size();
  open.clear();
  return {};
}

Result<OpenEvents::Counts> OpenEvents::pair(const Ended& ended) {
  SONDE_TRY(records_.sort());
  Counts counts;
  Stack open;
  for (Record record{};;) {
    SONDE_TRY_ASSIGN(const bool more, records_.next(record));
    if (!open.empty() && (!more || open.key() != record.key))
      SONDE_TRY(leaveOpen(open, ended, counts));
    if (!more)
      return counts;
    if (!record.isEnd) {
      open.push(record);
      continue;
    }
    if (open.empty()) {
      ++counts.neverBegun;
      continue;
    }
    const Record begun = open.take(record.name);
    SONDE_TRY_ASSIGN(const std::string first, argsOf(begun));
    SONDE_TRY_ASSIGN(const std::string second, argsOf(record));
    SONDE_TRY(ended(begun.open, record.ns - begun.ns, joined(first, second)));
  }
}

}  // namespace sonde::ingest
