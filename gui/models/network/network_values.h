// Who sends how much to whom, and the collectives of each communicator, for the view of the
// network. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/network/communicators.h"
#include "analysis/engine/network/links.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sonde::gui {

struct NetworkValues {
  engine::network::Links links;
  std::vector<engine::network::CommunicatorRow> communicators;
};
// `within`: job time; only messages and collectives that share time with it. Unset: all.
[[nodiscard]] Result<std::shared_ptr<const NetworkValues>> readNetwork(
    const store::Database& trace, const std::optional<engine::metrics::Interval>& within);

enum class LinkValue : std::uint8_t { Bytes, Messages, Time, Bandwidth };
[[nodiscard]] QString titleOf(LinkValue value);

// Senders by receivers. Only ranks, if any ranks sent something to each other.
struct LinkMatrix {
  std::vector<std::size_t> ends;  // in Links::ends: of the rows, and of the columns
  std::vector<QString> names;
  ValueKind unit = ValueKind::Bytes;
  std::vector<double> values;  // by sender, then by receiver; NaN: nothing was sent
};
[[nodiscard]] LinkMatrix linkMatrix(const engine::network::Links& links, LinkValue value);

// A sender and a receiver, in Links::ends.
struct LinkPair {
  std::size_t from = 0;
  std::size_t to = 0;
  bool operator==(const LinkPair&) const = default;
};

// `only`: the links of one pair. A row leads to the longest of its messages.
[[nodiscard]] std::vector<ValueColumn> linkColumns();
[[nodiscard]] std::vector<ValueRow> linkRows(const engine::network::Links& links,
                                             const std::optional<LinkPair>& only);

// A row leads to the longest of its collectives.
[[nodiscard]] std::vector<ValueColumn> communicatorColumns();
[[nodiscard]] std::vector<ValueRow> communicatorRows(const NetworkValues& values);

}  // namespace sonde::gui
