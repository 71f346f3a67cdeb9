#include "gui/models/tracks/track_arrangement.h"

#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

namespace sonde::gui {
namespace {

constexpr QLatin1String kGrouping("grouping");
constexpr QLatin1String kOrder("order");
constexpr QLatin1String kByHand("by_hand");
constexpr QLatin1String kPinned("pinned");
constexpr QLatin1String kHidden("hidden");

QJsonArray arrayOf(const std::vector<TrackId>& tracks) {
  QJsonArray array;
  for (const TrackId& track : tracks)
    array << QJsonArray{static_cast<int>(track.owner), qint64{track.id}};
  return array;
}

std::vector<TrackId> tracksOf(const QJsonValue& array) {
  std::vector<TrackId> tracks;
  const QJsonArray read = array.toArray();
  for (const QJsonValue& each : read) {
    const int owner = each[0].toInt(-1);
    if (owner >= 0 && owner <= static_cast<int>(Owner::Counter))
      tracks.push_back({static_cast<Owner>(owner), each[1].toInteger()});
  }
  return tracks;
}

// The enumerator at `key`; the first one if there is none.
template <typename Enum>
Enum enumOf(const QJsonObject& object, QLatin1String key, Enum last) {
  const int read = object[key].toInt();
  return read < 0 || read > static_cast<int>(last) ? Enum{} : static_cast<Enum>(read);
}

// Threads of one role differ by a number at the end: "pt_autograd_0".
QString roleOf(QString name) {
  while (!name.isEmpty() && !name.back().isLetter())
    name.chop(1);
  return name.isEmpty() ? QStringLiteral("thread") : name;
}

}  // namespace

void TrackArrangement::togglePinned(std::span<const TrackId> tracks) {
  const auto isPinned = [this](const TrackId& track) {
    return std::find(pinned.begin(), pinned.end(), track) != pinned.end();
  };
  if (std::all_of(tracks.begin(), tracks.end(), isPinned))
    std::erase_if(pinned, [&](const TrackId& track) {
      return std::find(tracks.begin(), tracks.end(), track) != tracks.end();
    });
  else
    std::copy_if(tracks.begin(), tracks.end(), std::back_inserter(pinned), std::not_fn(isPinned));
}

void TrackArrangement::hide(std::span<const TrackId> tracks) {
  hidden.insert(hidden.end(), tracks.begin(), tracks.end());
  std::sort(hidden.begin(), hidden.end());
  hidden.erase(std::unique(hidden.begin(), hidden.end()), hidden.end());
  std::erase_if(pinned, [this](const TrackId& track) {
    return std::binary_search(hidden.begin(), hidden.end(), track);
  });
}

void TrackArrangement::moveProcess(const Skeleton& skeleton, int process, int above) {
  std::vector<int> processes = orderOf(*this, skeleton);
  std::erase(processes, process);
  processes.insert(std::find(processes.begin(), processes.end(), above), process);
  order = Order::ByHand;
  byHand.clear();
  for (const int each : processes)
    byHand.push_back(skeleton.processes[static_cast<std::size_t>(each)].id);
}

void TrackArrangement::forgetTrace() {
  byHand.clear();
  pinned.clear();
  hidden.clear();
  if (order == Order::ByHand)
    order = Order::Rank;
}

QByteArray textOf(const TrackArrangement& arrangement) {
  QJsonArray byHand;
  for (const std::int64_t process : arrangement.byHand)
    byHand << qint64{process};
  return QJsonDocument(QJsonObject{{kGrouping, static_cast<int>(arrangement.grouping)},
                                   {kOrder, static_cast<int>(arrangement.order)},
                                   {kByHand, byHand},
                                   {kPinned, arrayOf(arrangement.pinned)},
                                   {kHidden, arrayOf(arrangement.hidden)}})
      .toJson(QJsonDocument::Compact);
}

TrackArrangement arrangementOf(const QByteArray& text) {
  const QJsonObject read = QJsonDocument::fromJson(text).object();
  TrackArrangement arrangement;
  arrangement.grouping = enumOf(read, kGrouping, TrackArrangement::Grouping::Kind);
  arrangement.order = enumOf(read, kOrder, TrackArrangement::Order::ByHand);
  const QJsonArray byHand = read[kByHand].toArray();
  for (const QJsonValue& process : byHand)
    arrangement.byHand.push_back(process.toInteger());
  arrangement.pinned = tracksOf(read[kPinned]);
  arrangement.hide(tracksOf(read[kHidden]));
  return arrangement;
}

std::vector<int> orderOf(const TrackArrangement& arrangement, const Skeleton& skeleton) {
  using Order = TrackArrangement::Order;
  std::vector<int> processes(skeleton.processes.size());
  std::iota(processes.begin(), processes.end(), 0);
  QHash<std::int64_t, std::int64_t> places;  // by id
  for (const std::int64_t id : arrangement.byHand)
    places.insert(id, places.size());
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  const auto placeOf = [&](int at) -> std::int64_t {
    const ProcessInfo& process = skeleton.processes[static_cast<std::size_t>(at)];
    switch (arrangement.order) {
      case Order::Start:
        return process.startNs.value_or(kLast);
      case Order::Events:
        return -process.slices;
      case Order::ByHand:
        return places.value(process.id, kLast);
      default:
        return 0;
    }
  };
  std::stable_sort(
      processes.begin(), processes.end(), [&](int a, int b) { return placeOf(a) < placeOf(b); });
  return processes;
}

QString kindOf(const TrackInfo& track) {
  switch (track.owner) {
    case Owner::Stream:
      return track.communicates ? QStringLiteral("communication streams")
                                : QStringLiteral("computing streams");
    case Owner::Channel:
      return track.network ? QStringLiteral("network channels")
                           : QStringLiteral("pipes and UNIX sockets");
    case Owner::Counter:
      return track.counter->kind;
    default:
      return roleOf(track.name);
  }
}

}  // namespace sonde::gui
