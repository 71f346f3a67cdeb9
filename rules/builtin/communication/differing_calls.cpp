#include "rules/builtin/communication/differing_calls.h"

#include "analysis/engine/standstill/dumps.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::rules {
namespace {

constexpr std::size_t kMostMeetings = 1000;

constexpr std::string_view kCalls =
    "SELECT communicator_id, seq, process_id, op, coalesce(dtype, '') AS dtype, bytes, root, "
    "start_ns"
    " FROM collective WHERE communicator_id IS NOT NULL AND seq IS NOT NULL AND op NOT IN ('send',"
    " 'receive')";

constexpr std::string_view kCallsOf =
    "SELECT m.job_key, c.seq, CASE WHEN p.rank IS NULL THEN 'process ' || p.pid ELSE 'rank ' ||"
    " p.rank END AS name, c.op, coalesce(c.dtype, '') AS dtype, coalesce(c.bytes || ' bytes', '') "
    "AS"
    " size, c.root, '' AS state, c.start_ns, 1 AS part FROM communicator m JOIN collective c ON"
    " c.communicator_id = m.id AND c.seq = ?2 JOIN process p ON p.id = c.process_id WHERE "
    "m.job_key ="
    " ?1 AND c.op NOT IN ('send', 'receive') ORDER BY name";

// Collectives in dumps of PyTorch's flight recorder, which have shapes and states. Ranks may differ
// in their shapes in an all-to-all, in the inputs of a scatter and in the outputs of a gather, and
// the types of tensors that only some of them have. The parts of a coalesced call are numbered from
// the last: the ring may have dropped the first.
constexpr std::string_view kDifferingDumps =
    "WITH entry AS (SELECT m.job_key, c.seq, c.op, c.root, c.start_ns, c.id, c.process_id, CASE "
    "WHEN"
    " p.rank IS NULL THEN 'process ' || p.id ELSE 'rank ' || p.rank END AS name,"
    " trim(a.value ->> '$.input_dtypes', '[]\"') AS in_type,"
    " trim(a.value ->> '$.output_dtypes', '[]\"') AS out_type,"
    " a.value ->> '$.input_sizes' AS in_size, a.value ->> '$.output_sizes' AS out_size,"
    " CASE WHEN c.op IN ('broadcast', 'reduce', 'gather', 'scatter') THEN '' WHEN a.value ->>"
    " '$.state' = 'completed' THEN 'finished' ELSE 'unfinished' END AS state,"
    " row_number() OVER (PARTITION BY c.communicator_id, c.seq ORDER BY c.id DESC) AS part"
    " FROM collective c JOIN communicator m ON m.id = c.communicator_id JOIN process p ON p.id ="
    " c.process_id JOIN arg a ON a.owner = 'collective' AND a.owner_id = c.id JOIN string k ON k.id"
    " = a.key_id AND k.text = 'args' WHERE c.seq IS NOT NULL AND c.op NOT IN ('send', 'receive')),"
    " part AS (SELECT job_key, seq, name, op, root, start_ns, part,"
    " iif(op IN ('scatter', 'broadcast') OR coalesce(in_type, '') = '', '', in_type || ' in')"
    " || iif(op = 'gather' OR coalesce(out_type, '') = '', '', ' ' || out_type || ' out') AS dtype,"
    " iif(op IN ('alltoall', 'scatter') OR coalesce(in_size, '[]') IN ('[[]]', '[]'), '', in_size"
    " || ' in') || iif(op IN ('alltoall', 'gather') OR coalesce(out_size, '[]') IN ('[[]]', '[]'),"
    " '', ' ' || out_size || ' out') AS size,"
    " state FROM entry),"
    " odd AS (SELECT job_key, seq, part FROM part GROUP BY job_key, seq, part HAVING count(DISTINCT"
    " op) > 1 OR count(DISTINCT nullif(dtype, '')) > 1 OR count(DISTINCT nullif(size, '')) > 1 OR"
    " count(DISTINCT root) > 1 OR count(DISTINCT nullif(state, '')) > 1 ORDER BY min(start_ns) "
    "LIMIT 1000)"
    " SELECT job_key, seq, name, op, dtype, size, root, state, start_ns, part FROM part JOIN odd"
    " USING (job_key, seq, part) ORDER BY job_key, seq, part, name";

struct MeetingCall {
  std::int64_t communicatorId = 0;
  std::int64_t seq = 0;
  std::int64_t processId = 0;
  std::string_view op;
  std::string_view dtype;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> root;
  std::int64_t startNs = 0;

  SONDE_COLUMNS(communicatorId, seq, processId, op, dtype, bytes, root, startNs)
};

// The calls of one collective so far: those of its first call, and whether a later one differs.
struct Meeting {
  std::int64_t processId = 0;
  int op = 0;
  int dtype = 0;  // 0: unknown
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> root;
  std::int64_t startNs = 0;
  bool isJoined = false;
  bool differs = false;
};

// Numbers words; 0 is the empty one.
class Words {
 public:
  int numberOf(std::string_view word) {
    if (word.empty())
      return 0;
    const auto known = numbers_.find(word);
    if (known != numbers_.end())
      return known->second;
    return numbers_.emplace(word, static_cast<int>(numbers_.size()) + 1).first->second;
  }

 private:
  std::map<std::string, int, std::less<>> numbers_;
};

template <typename Value>
bool differ(std::optional<Value>& known, const std::optional<Value>& value) {
  if (!known)
    known = value;
  return value && *known != *value;
}

class Meetings {
 public:
  explicit Meetings(std::map<std::int64_t, std::string> keys) : keys_(std::move(keys)) {
    for (const auto& [id, key] : keys_)
      groups_.emplace(id, firsts_.emplace(key, id).first->second);
  }

  void add(const MeetingCall& call) {
    const auto group = groups_.find(call.communicatorId);
    if (group == groups_.end())
      return;
    const int op = words_.numberOf(call.op);
    const int dtype = words_.numberOf(call.dtype);
    const auto [at, isNew] = all_[group->second].try_emplace(call.seq);
    Meeting& meeting = at->second;
    if (isNew) {
      meeting = {call.processId, op, dtype, call.bytes, call.root, call.startNs};
      return;
    }
    meeting.startNs = std::min(meeting.startNs, call.startNs);
    if (call.processId != meeting.processId && !std::exchange(meeting.isJoined, true))
      ++joined_;
    const bool haveOtherTypes = dtype != 0 && meeting.dtype != 0 && dtype != meeting.dtype;
    if (meeting.dtype == 0)
      meeting.dtype = dtype;
    const bool haveOtherSizes =
        differ(meeting.bytes, call.bytes) && !call.op.starts_with("neighbor");
    if (op != meeting.op || haveOtherTypes || haveOtherSizes || differ(meeting.root, call.root))
      meeting.differs = true;
  }

  std::int64_t joined() const { return joined_; }

  // The first ones that differ: group key and number, by group and number.
  std::vector<std::pair<std::string, std::int64_t>> differing() const {
    struct OddMeeting {
      std::int64_t startNs;
      std::pair<std::string, std::int64_t> name;
    };
    std::vector<OddMeeting> odd;
    for (const auto& [group, meetings] : all_)
      for (const auto& [seq, meeting] : meetings)
        if (meeting.differs)
          odd.push_back({meeting.startNs, {keys_.at(group), seq}});
    std::sort(odd.begin(), odd.end(), [](const OddMeeting& a, const OddMeeting& b) {
      return std::tie(a.startNs, a.name) < std::tie(b.startNs, b.name);
    });
    if (odd.size() > kMostMeetings)
      odd.resize(kMostMeetings);
    std::vector<std::pair<std::string, std::int64_t>> names;
    for (OddMeeting& each : odd)
      names.push_back(std::move(each.name));
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::map<std::int64_t, std::string> keys_;     // by communicator
  std::map<std::string, std::int64_t> firsts_;   // by key: its first communicator
  std::map<std::int64_t, std::int64_t> groups_;  // by communicator: the first one with its key
  Words words_;
  // By group and number.
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, Meeting>> all_;
  std::int64_t joined_ = 0;
};

struct CommunicatorRow {
  std::int64_t id = 0;
  std::string jobKey;

  SONDE_COLUMNS(id, jobKey)
};

Result<DifferingCalls> readByAttributes(const store::Database& trace) {
  std::map<std::int64_t, std::string> keys;
  SONDE_TRY(store::forEach<CommunicatorRow>(
      trace, "SELECT id, job_key FROM communicator", [&](const CommunicatorRow& row) {
        keys.emplace(row.id, row.jobKey);
      }));
  DifferingCalls differing;
  Meetings meetings(std::move(keys));
  SONDE_TRY(store::forEach<MeetingCall>(trace, kCalls, [&](const MeetingCall& call) {
    ++differing.calls;
    meetings.add(call);
  }));
  differing.joined = meetings.joined();
  SONDE_TRY_ASSIGN(store::Statement calls, trace.prepare(kCallsOf));
  for (const auto& [key, seq] : meetings.differing()) {
    calls.reset();
    calls.bindAll(std::string_view(key), seq);
    SONDE_TRY(
        store::forEach<CallRow>(calls, [&](const CallRow& row) { differing.rows.push_back(row); }));
  }
  return differing;
}

Result<DifferingCalls> readDumps(const store::Database& trace) {
  DifferingCalls differing;
  SONDE_TRY_ASSIGN(differing.calls, trace.queryInteger("SELECT count(*) FROM collective"));
  SONDE_TRY_ASSIGN(
      differing.joined,
      trace.queryInteger(
          "SELECT count(*) FROM (SELECT 1 FROM collective c JOIN communicator m ON m.id ="
          " c.communicator_id WHERE c.seq IS NOT NULL GROUP BY m.job_key, c.seq HAVING"
          " min(c.process_id) <> max(c.process_id))"));
  SONDE_TRY_ASSIGN(differing.rows, store::readAll<CallRow>(trace, kDifferingDumps));
  return differing;
}

}  // namespace

Result<DifferingCalls> readDifferingCalls(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const bool isDump, engine::standstill::holdsDumps(trace));
  return isDump ? readDumps(trace) : readByAttributes(trace);
}

}  // namespace sonde::rules
