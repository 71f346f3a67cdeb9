#include "gui/models/network/network_values.h"

#include "analysis/engine/metrics/ranks.h"
#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::gui {
namespace {

using engine::network::Link;
using engine::network::Links;

QString tr(const char* text) {
  return QCoreApplication::translate("Network", text);
}

QVariant integer(std::int64_t value) {
  return QVariant::fromValue<qlonglong>(value);
}

template <typename T>
QVariant known(const std::optional<T>& value) {
  if (!value)
    return {};
  if constexpr (std::is_same_v<T, double>)
    return *value;
  else
    return integer(*value);
}

Place placeOf(const engine::metrics::Interval& time, std::optional<std::int64_t> rank) {
  Place place;
  if (time.end > time.begin)
    place.span = Span{time.begin, time.end};
  place.rank = rank;
  return place;
}

bool isBetweenRanks(const Links& links, const Link& link) {
  return link.from != link.to && links.ends[link.from].rank && links.ends[link.to].rank;
}

constexpr ValueKind kLinkUnits[] = {
    ValueKind::Bytes, ValueKind::Integer, ValueKind::Duration, ValueKind::Rate};

}  // namespace

Result<std::shared_ptr<const NetworkValues>> readNetwork(
    const store::Database& trace, const std::optional<engine::metrics::Interval>& within) {
  auto values = std::make_shared<NetworkValues>();
  SONDE_TRY_ASSIGN(const auto ranks, engine::metrics::readRanks(trace));
  SONDE_TRY_ASSIGN(values->links, engine::network::readLinks(trace, ranks, within));
  SONDE_TRY_ASSIGN(const auto collectives, engine::device::readCollectives(trace));
  values->communicators = engine::network::communicatorRows(collectives, within);
  return std::shared_ptr<const NetworkValues>(std::move(values));
}

QString titleOf(LinkValue value) {
  constexpr const char* kTitles[] = {
      "bytes", "messages", "time with bytes under way", "bandwidth while bytes were under way"};
  return tr(kTitles[static_cast<std::size_t>(value)]);
}

LinkMatrix linkMatrix(const Links& links, LinkValue value) {
  const bool onlyRanks = std::any_of(links.links.begin(), links.links.end(), [&](const Link& each) {
    return isBetweenRanks(links, each);
  });
  LinkMatrix matrix;
  std::vector<std::optional<std::size_t>> places(links.ends.size());
  for (std::size_t end = 0; end < links.ends.size(); ++end) {
    if (onlyRanks && !links.ends[end].rank)
      continue;
    places[end] = matrix.ends.size();
    matrix.ends.push_back(end);
    matrix.names.push_back(qtext(links.ends[end].name));
  }
  const std::size_t size = matrix.ends.size();
  struct Sum {
    double bytes = 0;
    double messages = 0;
    double ns = 0;
  };
  std::vector<Sum> sums(size * size);
  for (const Link& link : links.links) {
    if (!places[link.from] || !places[link.to])
      continue;
    Sum& sum = sums[*places[link.from] * size + *places[link.to]];
    sum.bytes += static_cast<double>(link.bytes);
    sum.messages += static_cast<double>(link.messages);
    sum.ns += static_cast<double>(link.busyNs);
  }
  matrix.unit = kLinkUnits[static_cast<std::size_t>(value)];
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (const Sum& sum : sums) {
    const double bandwidth = sum.ns > 0 ? sum.bytes * 1e9 / sum.ns : kNone;
    const double all[] = {sum.bytes, sum.messages, sum.ns, bandwidth};
    matrix.values.push_back(sum.messages > 0 ? all[static_cast<std::size_t>(value)] : kNone);
  }
  return matrix;
}

std::vector<ValueColumn> linkColumns() {
  return {{tr("from")},
          {tr("to")},
          {tr("kind"), ValueKind::Text, tr("of the connection; call: sends of a library")},
          {tr("bytes"), ValueKind::Bytes},
          {tr("messages"), ValueKind::Integer, tr("calls that sent something")},
          {tr("time"),
           ValueKind::Duration,
           tr("with bytes under way: from the begin of a send to the end of its receive. If only "
              "one end was recorded, the time of its calls")},
          {tr("median latency"),
           ValueKind::Duration,
           tr("from the begin of a send to the end of the receive of its last byte")},
          {tr("bandwidth"), ValueKind::Rate, tr("bytes by time")}};
}

std::vector<ValueRow> linkRows(const Links& links, const std::optional<LinkPair>& only) {
  std::vector<ValueRow> rows;
  for (const Link& each : links.links) {
    if (only && !(LinkPair{each.from, each.to} == *only))
      continue;
    const auto& from = links.ends[each.from];
    const auto& to = links.ends[each.to];
    rows.push_back({{qtext(from.name),
                     qtext(to.name),
                     qtext(each.kind),
                     integer(each.bytes),
                     integer(each.messages),
                     integer(each.busyNs),
                     known(each.medianLatencyNs),
                     known(each.bytesPerSecond())},
                    placeOf(each.longest, from.rank ? from.rank : to.rank)});
  }
  return rows;
}

std::vector<ValueColumn> communicatorColumns() {
  return {{tr("collective")},
          {tr("ranks"), ValueKind::Integer},
          {tr("bytes"), ValueKind::Bytes, tr("of one collective")},
          {tr("count"), ValueKind::Integer, tr("collectives")},
          {tr("total time"), ValueKind::Duration, tr("of the calls of all ranks")},
          {tr("share"), ValueKind::Share, tr("of the time of all collectives")},
          {tr("median"), ValueKind::Duration, tr("of one rank's call")},
          {tr("waiting"), ValueKind::Duration, tr("for other ranks, within the total time")},
          {tr("algorithm bandwidth"), ValueKind::Rate, tr("bytes by time; median")},
          {tr("bus bandwidth"),
           ValueKind::Rate,
           tr("what each link carries, as nccl-tests defines it; median")},
          {tr("communicator")}};
}

std::vector<ValueRow> communicatorRows(const NetworkValues& values) {
  std::vector<ValueRow> rows;
  for (const auto& each : values.communicators) {
    const auto& row = each.row;
    rows.push_back({{qtext(row.op),
                     integer(row.size),
                     known(row.bytes),
                     integer(each.collectives),
                     integer(row.ns.total),
                     row.share,
                     integer(row.ns.p50),
                     row.waitNs + row.transferNs > 0 ? integer(row.waitNs) : QVariant(),
                     known(row.algorithmBytesPerSecond),
                     known(row.busBytesPerSecond),
                     qtext(each.group)},
                    placeOf(each.longest, std::nullopt)});
  }
  return rows;
}

}  // namespace sonde::gui
