#include "analysis/engine/align/read_bounds.h"
#include "analysis/model/times.h"
#include "analysis/model/words.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::align {
namespace {

using Needs = model::CollectiveNeeds;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// All pairs of so many hosts are compared; of more, neighbours, and each host with the first.
constexpr std::size_t kFewHosts = 16;

// A rank's part of a collective.
struct PartRow {
  std::string jobKey;
  std::int64_t seq = 0;
  std::string op;
  std::int64_t hostId = 0;
  bool isRoot = false;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(jobKey, seq, op, hostId, isRoot, startNs, endNs)

  bool isOfSame(const PartRow& other) const {
    return seq == other.seq && jobKey == other.jobKey && op == other.op;
  }
};

constexpr const char* kParts =
    "SELECT g.job_key, c.seq, c.op, p.host_id, c.root IS NOT NULL AND c.root = g.position AS "
    "is_root, coalesce(k.start_ns, c.start_ns) AS start_ns, CASE WHEN k.id IS NULL THEN c.start_ns "
    "+ c.dur_ns ELSE k.start_ns + k.dur_ns END AS end_ns FROM collective c JOIN communicator g ON "
    "g.id = c.communicator_id JOIN process p ON p.id = c.process_id JOIN host h ON h.id = "
    "p.host_id LEFT JOIN kernel k ON k.id = "
    "c.kernel_id WHERE c.seq IS NOT NULL AND coalesce(k.dur_ns, c.dur_ns) IS NOT NULL ORDER BY "
    "g.job_key, c.seq, c.op, p.host_id";

// The ranks of one host.
struct HostPart {
  HostIndex host;
  std::int64_t arrivedNs = -kNever;  // the last rank that others need
  std::int64_t leftNs = kNever;      // the first rank that needs others
};

class Parts {
 public:
  Parts(const HostIndexes& hosts, HostBounds& bounds) : hosts_(hosts), bounds_(bounds) {}

  void add(const PartRow& row) {
    if (!last_.isOfSame(row)) {
      finish();
      last_ = row;
    }
    if (!model::isTime(row.startNs) || !model::isTime(row.endNs))
      return;
    const HostIndex host = hosts_.at(row.hostId);
    if (parts_.empty() || parts_.back().host != host)
      parts_.push_back({host});
    HostPart& part = parts_.back();
    const Needs needs = model::needsOf(row.op);
    if (needs != Needs::Root || row.isRoot)
      part.arrivedNs = std::max(part.arrivedNs, row.startNs);
    if (needs == Needs::All || row.isRoot == (needs == Needs::RootAll))
      part.leftNs = std::min(part.leftNs, row.endNs);
  }

  void finish() {
    const Needs needs = model::needsOf(last_.op);
    if (parts_.size() > 1 && needs != Needs::Nothing)
      bound(needs == Needs::All);
    parts_.clear();
  }

 private:
  void bound(bool endTogether) {
    for (const HostPart& part : parts_)
      bounds_.countCollective(part.host);
    const std::size_t reach = parts_.size() <= kFewHosts ? parts_.size() : 2;
    for (std::size_t one = 0; one < parts_.size(); ++one)
      for (std::size_t other = one + 1; other < std::min(one + reach, parts_.size()); ++other)
        boundBoth(parts_[one], parts_[other]);
    for (std::size_t other = reach; other < parts_.size(); ++other)
      boundBoth(parts_[0], parts_[other]);
    if (endTogether)
      for (std::size_t other = 1; other < parts_.size(); ++other)
        bounds_.addTogether(
            parts_[0].host, parts_[other].host, parts_[0].leftNs, parts_[other].leftNs);
  }
  void boundBoth(const HostPart& one, const HostPart& other) {
    boundOnward(one, other);
    boundOnward(other, one);
  }
  void boundOnward(const HostPart& from, const HostPart& to) {
    if (from.arrivedNs != -kNever && to.leftNs != kNever)
      bounds_.addArrival(from.host, to.host, from.arrivedNs, to.leftNs);
  }

  const HostIndexes& hosts_;
  HostBounds& bounds_;
  PartRow last_;
  std::vector<HostPart> parts_;
};

}  // namespace

Result<void> readCollectives(const store::Database& trace,
                             const HostIndexes& hosts,
                             HostBounds& bounds) {
  Parts parts(hosts, bounds);
  SONDE_TRY(store::forEach<PartRow>(trace, kParts, [&](const PartRow& row) { parts.add(row); }));
  parts.finish();
  return {};
}

}  // namespace sonde::engine::align
