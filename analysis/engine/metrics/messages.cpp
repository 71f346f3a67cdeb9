#include "analysis/engine/metrics/messages.h"

#include "analysis/store/statement.h"

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

// Both ends of a connection have the smaller of their ids; a way is named by its sender.
constexpr char kRows[] =
    "SELECT min(c.id, c.peer_channel_id) AS pair,"
    " CASE x.direction WHEN 'send' THEN c.id ELSE c.peer_channel_id END AS sender, x.tag, x.offset,"
    " x.direction = 'send', x.bytes, x.exact"
    " FROM transfer x JOIN channel c ON c.id = x.channel_id"
    " WHERE c.kind = 'mpi' AND c.peer_channel_id IS NOT NULL"
    " ORDER BY 1, 2, 3, 4, 5";

// The messages of one connection so far.
struct Connection {
  std::int64_t sentBytes = 0;
  std::int64_t missingBytes = 0;
  std::int64_t unsentBytes = 0;
  bool exact = true;
  bool agrees = true;

  // A message; `sent`, `received`: what its ends say, absent where one says nothing.
  void add(std::optional<std::int64_t> sent, std::optional<std::int64_t> received) {
    agrees = agrees && sent == received;
    sentBytes += sent.value_or(0);
    const std::int64_t difference = sent.value_or(0) - received.value_or(0);
    (difference > 0 ? missingBytes : unsentBytes) += difference > 0 ? difference : -difference;
  }

  void finish(Conservation& sum) const {
    if (!exact)
      return;
    ++sum.exactPairs;
    sum.agreeingPairs += agrees ? 1 : 0;
    sum.sentBytes += sentBytes;
    sum.missingBytes += missingBytes;
    sum.unsentBytes += unsentBytes;
  }
};

}  // namespace

Result<void> addMessages(const store::Database& trace, bool cut, Conservation& sum) {
  SONDE_TRY_ASSIGN(const std::int64_t pairs,
                   trace.queryInteger("SELECT count(DISTINCT min(id, peer_channel_id)) FROM channel"
                                      " WHERE kind = 'mpi' AND peer_channel_id IS NOT NULL"));
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kRows));
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::optional<Key> key;
  std::optional<std::int64_t> sent;
  std::optional<std::int64_t> received;
  Connection connection;
  std::int64_t seen = 0;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    const Key next =
        row ? Key{rows.integer(0), rows.integer(1), rows.integer(2), rows.integer(3)} : Key{};
    if (key && (!row || next != *key)) {
      if (!cut || (sent && received))
        connection.add(sent, received);
      sent = received = std::nullopt;
      if (!row || std::get<0>(next) != std::get<0>(*key)) {
        std::exchange(connection, {}).finish(sum);
        ++seen;
      }
    }
    if (!row)
      break;
    key = next;
    (rows.integer(4) != 0 ? sent : received) = rows.integer(5);
    connection.exact = connection.exact && rows.integer(6) != 0;
  }
  // Those that nothing was sent through have nothing to disagree about.
  sum.pairs += pairs;
  sum.exactPairs += pairs - seen;
  sum.agreeingPairs += pairs - seen;
  return {};
}

}  // namespace sonde::engine::metrics
