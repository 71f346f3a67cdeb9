#include "gui/models/tracks/layout_builder.h"

#include "gui/models/tracks/track_layout.h"

#include <QHash>

#include <algorithm>
#include <functional>
#include <iterator>

namespace sonde::gui {
namespace {

using Type = LayoutEntry::Type;
using Grouping = TrackArrangement::Grouping;
using Tracks = std::vector<int>;  // indices in Skeleton::tracks

int trackHeight(const TrackInfo& track) {
  return std::max(track.rows, 1) * TrackLayout::kRowHeight + 2 * TrackLayout::kTrackPadding;
}

bool isOfHost(const TrackInfo& track) {
  return track.counter && track.counter->isOfHost;
}

class LayoutBuilder {
 public:
  LayoutBuilder(const Skeleton& skeleton,
                const std::map<TrackId, int>& indices,
                const TrackArrangement& arrangement,
                const LayoutFolds& folds)
      : skeleton_(skeleton), indices_(indices), arrangement_(arrangement), folds_(folds) {}

  BuiltLayout build() {
    built_.places.assign(skeleton_.tracks.size(), BuiltLayout::kNowhere);
    isHidden_.assign(skeleton_.tracks.size(), false);
    for (const TrackId& id : arrangement_.hidden)
      if (const auto found = indices_.find(id); found != indices_.end()) {
        isHidden_[static_cast<std::size_t>(found->second)] = true;
        ++built_.hiddenTracks;
      }
    readOrder();
    addPinned();
    if (arrangement_.grouping == Grouping::Device)
      addDevices();
    if (arrangement_.grouping == Grouping::Kind)
      addKinds();
    else
      addProcesses();
    return std::move(built_);
  }

 private:
  [[nodiscard]] const TrackInfo& track(int at) const {
    return skeleton_.tracks[static_cast<std::size_t>(at)];
  }
  [[nodiscard]] bool hasEvents(int at) const { return track(at).rows > 0 || folds_.showEmpty; }
  [[nodiscard]] bool isPinned(int at) const {
    return built_.places[static_cast<std::size_t>(at)] < BuiltLayout::kNowhere;
  }
  [[nodiscard]] bool isShown(int at) const {
    return hasEvents(at) && !isHidden_[static_cast<std::size_t>(at)] && !isPinned(at);
  }
  // Whether the group of a device is folded.
  [[nodiscard]] bool isFolded(const LayoutEntry& group) const {
    return folds_.devices.contains(
        {idAt(skeleton_.processes, group.process), idAt(skeleton_.devices, group.device)});
  }
  void readOrder();
  [[nodiscard]] bool isLeftOut(int process) const;
  // Those of `tracks` that are shown, and for which `matches(track)`.
  template <typename Matches>
  [[nodiscard]] Tracks shown(const Tracks& tracks, Matches matches) const;
  void addPinned();
  void addProcesses();
  void addProcess(int process);
  void addStreams(int process);
  void addThreadsAndChannels(int process);
  void addCounters(int process, bool isOfHost, const Tracks& tracks);
  void addDevices();
  void addKinds();
  void addTrack(int at, bool isApart = false);
  // Adds a line; `fill` adds what is below it.
  template <typename Fill>
  void addGroup(LayoutEntry group, int height, Fill fill);
  void addGroup(LayoutEntry group, const Tracks& tracks, bool isApart = false);

  const Skeleton& skeleton_;
  const std::map<TrackId, int>& indices_;
  const TrackArrangement& arrangement_;
  const LayoutFolds& folds_;
  BuiltLayout built_;
  std::vector<bool> isHidden_;          // by track: by the user
  std::vector<int> order_;              // of all processes
  std::vector<Tracks> ofProcess_;       // without counters of machines
  std::vector<Tracks> ofHost_;          // counters, by the machine's first process
  int folded_ = BuiltLayout::kNowhere;  // the folded line that is being filled
};

void LayoutBuilder::readOrder() {
  order_ = orderOf(arrangement_, skeleton_);
  ofProcess_.resize(order_.size());
  ofHost_.resize(order_.size());
  QHash<QString, int> firstOfHost;
  for (const int process : order_) {
    const QString& host = skeleton_.processes[static_cast<std::size_t>(process)].host;
    if (!firstOfHost.contains(host))
      firstOfHost.insert(host, process);
  }
  for (int at = 0; at < static_cast<int>(skeleton_.tracks.size()); ++at) {
    const auto process = static_cast<std::size_t>(track(at).process);
    if (isOfHost(track(at)))
      ofHost_[static_cast<std::size_t>(firstOfHost.value(skeleton_.processes[process].host))]
          .push_back(at);
    else
      ofProcess_[process].push_back(at);
  }
  std::copy_if(
      order_.begin(), order_.end(), std::back_inserter(built_.processes), [this](int process) {
        return !isLeftOut(process);
      });
}

// It is of another rank, or the user has hidden all that it has.
bool LayoutBuilder::isLeftOut(int process) const {
  const auto at = static_cast<std::size_t>(process);
  const auto& rank = skeleton_.processes[at].rank;
  if (folds_.rank && rank && rank != folds_.rank)
    return true;
  const auto isHidden = [this](int each) { return isHidden_[static_cast<std::size_t>(each)]; };
  const auto isLeft = [&](int each) { return hasEvents(each) && !isHidden(each); };
  const Tracks& tracks = ofProcess_[at];
  return std::any_of(tracks.begin(), tracks.end(), isHidden) &&
         std::none_of(tracks.begin(), tracks.end(), isLeft);
}

template <typename Matches>
Tracks LayoutBuilder::shown(const Tracks& tracks, Matches matches) const {
  Tracks result;
  std::copy_if(tracks.begin(), tracks.end(), std::back_inserter(result), [&](int at) {
    return isShown(at) && matches(track(at));
  });
  return result;
}

void LayoutBuilder::addTrack(int at, bool isApart) {
  built_.members.push_back(at);
  int& place = built_.places[static_cast<std::size_t>(at)];
  place = folded_;
  if (folded_ != BuiltLayout::kNowhere)
    return;
  place = static_cast<int>(built_.entries.size());
  LayoutEntry entry{Type::Track, track(at).process, at};
  entry.isApart = isApart;
  entry.y = built_.height;
  entry.height = trackHeight(track(at));
  built_.height += entry.height;
  built_.entries.push_back(std::move(entry));
}

template <typename Fill>
void LayoutBuilder::addGroup(LayoutEntry group, int height, Fill fill) {
  if (folded_ != BuiltLayout::kNowhere) {
    fill();
    return;
  }
  const std::size_t at = built_.entries.size();
  const std::size_t first = built_.members.size();
  const bool isFolded = group.folded;
  group.y = built_.height;
  group.height = height;
  group.firstMember = first;
  built_.height += height;
  built_.entries.push_back(std::move(group));
  if (isFolded)
    folded_ = static_cast<int>(at);
  fill();
  folded_ = BuiltLayout::kNowhere;
  built_.entries[at].members = built_.members.size() - first;
}

void LayoutBuilder::addGroup(LayoutEntry group, const Tracks& tracks, bool isApart) {
  if (tracks.empty())
    return;
  group.count = static_cast<int>(tracks.size());
  addGroup(std::move(group), TrackLayout::kGroupHeight, [&] {
    for (const int at : tracks)
      addTrack(at, isApart);
  });
}

void LayoutBuilder::addPinned() {
  for (const TrackId& id : arrangement_.pinned) {
    const auto found = indices_.find(id);
    if (found == indices_.end())
      continue;
    const int at = found->second;
    built_.places[static_cast<std::size_t>(at)] = -2 - static_cast<int>(built_.pinned.size());
    LayoutEntry entry{Type::Track, track(at).process, at};
    entry.isPinned = true;
    entry.isApart = true;
    entry.y = built_.pinnedHeight;
    entry.height = trackHeight(track(at));
    built_.pinnedHeight += entry.height;
    built_.pinned.push_back(std::move(entry));
  }
}

void LayoutBuilder::addProcesses() {
  auto shownProcess = built_.processes.begin();
  for (const int process : order_) {
    addCounters(process, true, ofHost_[static_cast<std::size_t>(process)]);
    if (shownProcess != built_.processes.end() && *shownProcess == process) {
      addProcess(process);
      ++shownProcess;
    }
  }
}

void LayoutBuilder::addProcess(int process) {
  const Tracks& tracks = ofProcess_[static_cast<std::size_t>(process)];
  const auto isWithout = [this](int at) { return !hasEvents(at); };
  const bool isQuiet = std::all_of(
      tracks.begin(), tracks.end(), [&](int at) { return track(at).counter || isWithout(at); });
  if (isQuiet)
    built_.quiet.insert(process);
  LayoutEntry header{Type::Process, process};
  header.folded = isQuiet || folds_.processes.contains(idAt(skeleton_.processes, process));
  header.hidden = static_cast<int>(std::count_if(tracks.begin(), tracks.end(), isWithout));
  addGroup(std::move(header), TrackLayout::kHeaderHeight, [&] {
    if (arrangement_.grouping == Grouping::Process)
      addStreams(process);
    addThreadsAndChannels(process);
    addCounters(process, false, tracks);
  });
}

void LayoutBuilder::addStreams(int process) {
  const Tracks streams = shown(ofProcess_[static_cast<std::size_t>(process)],
                               [](const TrackInfo& each) { return each.owner == Owner::Stream; });
  for (auto first = streams.begin(); first != streams.end();) {
    const int device = track(*first).device;
    const auto last =
        std::find_if(first, streams.end(), [&](int at) { return track(at).device != device; });
    LayoutEntry group{Type::Device, process};
    group.device = device;
    group.folded = isFolded(group);
    addGroup(std::move(group), Tracks(first, last));
    first = last;
  }
}

// A few network channels stand beside the threads; many are grouped.
void LayoutBuilder::addThreadsAndChannels(int process) {
  const Tracks& tracks = ofProcess_[static_cast<std::size_t>(process)];
  const bool isApart = shown(tracks, [](const TrackInfo& each) { return each.network; }).size() <=
                       TrackLayout::kManyChannels;
  const auto isGrouped = [&](const TrackInfo& each) {
    return each.owner == Owner::Channel && !(each.network && isApart);
  };
  const auto isBeside = [&](const TrackInfo& each) {
    return each.owner == Owner::Thread || (each.owner == Owner::Channel && !isGrouped(each));
  };
  for (const int at : shown(tracks, isBeside))
    addTrack(at);
  LayoutEntry channels{Type::Channels, process};
  channels.folded = folds_.channels.contains(idAt(skeleton_.processes, process));
  addGroup(std::move(channels), shown(tracks, isGrouped));
}

void LayoutBuilder::addCounters(int process, bool isOfHost, const Tracks& tracks) {
  const Tracks counters = shown(tracks, [this](const TrackInfo& each) {
    return each.counter && (arrangement_.grouping == Grouping::Process || each.device < 0);
  });
  LayoutEntry group{Type::Counters, process};
  group.isOfHost = isOfHost;
  group.folded = !folds_.shownCounters.contains({idAt(skeleton_.processes, process), isOfHost});
  addGroup(std::move(group), counters);
}

// The devices with streams and counters of all processes; the rest is below the processes.
void LayoutBuilder::addDevices() {
  std::map<int, Tracks> ofDevice;  // -1: unknown
  const auto isOfDevice = [](const TrackInfo& each) {
    return each.owner == Owner::Stream || (each.counter && each.device >= 0);
  };
  const auto collect = [&](const Tracks& tracks) {
    for (const int at : shown(tracks, isOfDevice))
      ofDevice[track(at).device].push_back(at);
  };
  for (const int process : order_)
    collect(ofHost_[static_cast<std::size_t>(process)]);
  for (const int process : built_.processes)
    collect(ofProcess_[static_cast<std::size_t>(process)]);
  for (auto& [device, tracks] : ofDevice) {
    std::stable_partition(
        tracks.begin(), tracks.end(), [this](int at) { return !track(at).counter; });
    LayoutEntry group{Type::Device, -1};
    group.device = device;
    group.folded = isFolded(group);
    addGroup(std::move(group), tracks, true);
  }
}

// In each group, the first such track of all processes comes first, then the second of all.
void LayoutBuilder::addKinds() {
  struct Similar {
    Owner owner;
    QString kind;
    std::vector<Tracks> tracks;  // by how many of this kind are above it in its process
  };
  std::vector<Similar> groups;
  QHash<QString, std::size_t> places;  // by kind
  const auto groupOf = [&](int at) -> Similar& {
    const QString kind = kindOf(track(at));
    if (!places.contains(kind)) {
      places.insert(kind, groups.size());
      groups.push_back({track(at).owner, kind, {}});
    }
    return groups[places.value(kind)];
  };
  const auto collect = [&](const Tracks& tracks) {
    QHash<QString, std::size_t> seen;
    for (const int at : shown(tracks, [](const TrackInfo&) { return true; })) {
      Similar& group = groupOf(at);
      std::vector<Tracks>& similar = group.tracks;
      const std::size_t above = seen[group.kind]++;
      similar.resize(std::max(similar.size(), above + 1));
      similar[above].push_back(at);
    }
  };
  for (const int process : built_.processes)
    collect(ofProcess_[static_cast<std::size_t>(process)]);
  for (const int process : order_)
    collect(ofHost_[static_cast<std::size_t>(process)]);
  std::stable_sort(groups.begin(), groups.end(), [](const Similar& a, const Similar& b) {
    return a.owner < b.owner;
  });
  for (const Similar& each : groups) {
    Tracks tracks;
    for (const Tracks& part : each.tracks)
      tracks.insert(tracks.end(), part.begin(), part.end());
    LayoutEntry group{Type::Kind, -1};
    group.kind = each.kind;
    const bool beginsFolded = each.owner == Owner::Counter;
    group.folded = beginsFolded != folds_.toggledKinds.contains(each.kind);
    addGroup(std::move(group), tracks, true);
  }
}

}  // namespace

BuiltLayout buildLayout(const Skeleton& skeleton,
                        const std::map<TrackId, int>& indices,
                        const TrackArrangement& arrangement,
                        const LayoutFolds& folds) {
  return LayoutBuilder(skeleton, indices, arrangement, folds).build();
}

}  // namespace sonde::gui
