#include "analysis/engine/metrics/messages.h"

#include "analysis/store/statement.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

// Both ends of a connection are named by the smaller of their ids; a direction by its sender.
constexpr char kRows[] =
    "SELECT min(c.id, c.peer_channel_id) AS pair,"
    " CASE x.direction WHEN 'send' THEN c.id ELSE c.peer_channel_id END AS sender, x.tag, x.offset,"
    " x.direction = 'send', x.bytes, x.exact"
    " FROM transfer x JOIN channel c ON c.id = x.channel_id"
    " WHERE c.kind = 'mpi' AND c.peer_channel_id IS NOT NULL"
    " ORDER BY 1, 2, 3, 4, 5";

// Identifies a message of one direction by what its ends recorded.
struct Key {
  std::int64_t pair;
  std::int64_t sender;
  std::int64_t tag;
  std::int64_t offset;
  friend bool operator==(const Key&, const Key&) = default;
};

// Compares both ends' messages, one connection after the other.
class Comparison {
 public:
  Comparison(bool cut, Conservation& sum) : cut_(cut), sum_(sum) {}

  void add(const Key& key, bool isSend, std::int64_t bytes, bool exact) {
    if (key_ && !(key == *key_))
      finishMessage();
    if (key_ && key.pair != key_->pair)
      finishConnection();
    key_ = key;
    (isSend ? sent_ : received_) = bytes;
    exact_ = exact_ && exact;
  }
  // Returns the number of connections.
  std::int64_t finish() {
    if (key_) {
      finishMessage();
      finishConnection();
    }
    return connections_;
  }

 private:
  void finishMessage() {
    if (!cut_ || (sent_ && received_)) {
      agrees_ = agrees_ && sent_ == received_;
      sentBytes_ += sent_.value_or(0);
      missingBytes_ += std::max<std::int64_t>(sent_.value_or(0) - received_.value_or(0), 0);
      unsentBytes_ += std::max<std::int64_t>(received_.value_or(0) - sent_.value_or(0), 0);
    }
    sent_ = received_ = std::nullopt;
  }
  void finishConnection() {
    ++connections_;
    if (exact_) {
      ++sum_.exactPairs;
      sum_.agreeingPairs += agrees_ ? 1 : 0;
      sum_.sentBytes += sentBytes_;
      sum_.missingBytes += missingBytes_;
      sum_.unsentBytes += unsentBytes_;
    }
    sentBytes_ = missingBytes_ = unsentBytes_ = 0;
    exact_ = agrees_ = true;
  }

  bool cut_;
  Conservation& sum_;
  std::optional<Key> key_;
  std::optional<std::int64_t> sent_;
  std::optional<std::int64_t> received_;
  std::int64_t connections_ = 0;
  std::int64_t sentBytes_ = 0;
  std::int64_t missingBytes_ = 0;
  std::int64_t unsentBytes_ = 0;
  bool exact_ = true;
  bool agrees_ = true;
};

}  // namespace

Result<void> addMessages(const store::Database& trace, bool cut, Conservation& sum) {
  SONDE_TRY_ASSIGN(const std::int64_t pairs,
                   trace.queryInteger("SELECT count(DISTINCT min(id, peer_channel_id)) FROM channel"
                                      " WHERE kind = 'mpi' AND peer_channel_id IS NOT NULL"));
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kRows));
  Comparison comparison(cut, sum);
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    comparison.add({rows.integer(0), rows.integer(1), rows.integer(2), rows.integer(3)},
                   rows.integer(4) != 0,
                   rows.integer(5),
                   rows.integer(6) != 0);
  }
  // Connections without messages cannot disagree.
  const std::int64_t silent = pairs - comparison.finish();
  sum.pairs += pairs;
  sum.exactPairs += silent;
  sum.agreeingPairs += silent;
  return {};
}

}  // namespace sonde::engine::metrics
