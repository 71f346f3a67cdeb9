#include "gui/models/track_layout.h"

#include <algorithm>
#include <functional>

namespace sonde::gui {
namespace {

// The tracks [first, second) of each process, which are contiguous in the skeleton.
template <typename Visit>
void forEachProcess(const Skeleton& skeleton, Visit visit) {
  std::size_t first = 0;
  for (int process = 0; process < static_cast<int>(skeleton.processes.size()); ++process) {
    std::size_t last = first;
    while (last < skeleton.tracks.size() && skeleton.tracks[last].process == process)
      ++last;
    visit(process, first, last);
    first = last;
  }
}

template <typename Matches>
std::size_t count(const Skeleton& skeleton, std::size_t first, std::size_t last, Matches matches) {
  return static_cast<std::size_t>(
      std::count_if(skeleton.tracks.begin() + static_cast<std::ptrdiff_t>(first),
                    skeleton.tracks.begin() + static_cast<std::ptrdiff_t>(last),
                    matches));
}

// The first counter of a process in [first, last), or of its machine.
std::size_t firstCounter(const Skeleton& skeleton,
                         std::size_t first,
                         std::size_t last,
                         bool isOfHost) {
  while (first < last && !(skeleton.tracks[first].counter &&
                           (skeleton.tracks[first].counter->isOfHost || !isOfHost)))
    ++first;
  return first;
}

bool busyThread(const TrackInfo& track) {
  return track.owner == Owner::Thread && track.rows > 0;
}

bool busyChannel(const TrackInfo& track) {
  return track.owner == Owner::Channel && track.rows > 0;
}

// How informative a process's tracks are, least first. Marks: only of forks and execs.
enum class Worth { Nothing, Marks, Transfers, Slices };

int trackHeight(const TrackInfo& track) {
  return std::max(track.rows, 1) * TrackLayout::kRowHeight + 2 * TrackLayout::kTrackPadding;
}

}  // namespace

void TrackLayout::reset(const Skeleton& skeleton) {
  rank_.reset();
  foldedProcesses_.clear();
  foldedDevices_.clear();
  foldedChannels_.clear();
  unfoldedCounters_.clear();
  std::vector<Worth> worths;
  forEachProcess(skeleton, [&](int process, std::size_t first, std::size_t last) {
    const std::size_t channels = count(skeleton, first, last, busyChannel);
    if (channels > kManyChannels)
      foldedChannels_.insert(process);
    const bool slices = skeleton.processes[static_cast<std::size_t>(process)].slices > 0;
    const bool marks = count(skeleton, first, last, busyThread) > 0;
    worths.push_back(slices         ? Worth::Slices
                     : channels > 0 ? Worth::Transfers
                     : marks        ? Worth::Marks
                                    : Worth::Nothing);
  });
  const auto most = std::max_element(worths.begin(), worths.end());
  for (int process = 0; process < static_cast<int>(worths.size()); ++process) {
    const Worth worth = worths[static_cast<std::size_t>(process)];
    if (worth != Worth::Nothing && worth != *most)
      foldedProcesses_.insert(process);
  }
  rebuild(skeleton);
}

void TrackLayout::rebuild(const Skeleton& skeleton) {
  entries_.clear();
  quiet_.clear();
  height_ = 0;
  forEachProcess(skeleton, [&](int process, std::size_t first, std::size_t last) {
    const std::optional<std::int64_t>& rank =
        skeleton.processes[static_cast<std::size_t>(process)].rank;
    const std::size_t counters = firstCounter(skeleton, first, last, false);
    const std::size_t ofHost = firstCounter(skeleton, counters, last, true);
    addCounters(skeleton, ofHost, last);
    if (!rank_ || !rank || rank == rank_)
      addProcess(skeleton, process, {first, counters, ofHost});
  });
}

void TrackLayout::showRank(const Skeleton& skeleton, std::optional<std::int64_t> rank) {
  const bool isKnown = std::any_of(skeleton.processes.begin(),
                                   skeleton.processes.end(),
                                   [&](const ProcessInfo& each) { return each.rank == rank; });
  rank_ = isKnown ? rank : std::nullopt;
  rebuild(skeleton);
}

void TrackLayout::add(LayoutEntry entry, int height) {
  entry.y = height_;
  entry.height = height;
  height_ += height;
  entries_.push_back(entry);
}

void TrackLayout::addProcess(const Skeleton& skeleton, int process, const ProcessTracks& tracks) {
  const auto begin = skeleton.tracks.begin() + static_cast<std::ptrdiff_t>(tracks.first);
  const auto end = skeleton.tracks.begin() + static_cast<std::ptrdiff_t>(tracks.counters);
  const auto isShown = [&](const TrackInfo& track) { return shown(track); };
  const bool quiet = std::none_of(begin, end, isShown);
  if (quiet)
    quiet_.insert(process);
  LayoutEntry header{LayoutEntry::Type::Process, process};
  header.folded = quiet || foldedProcesses_.contains(process);
  header.hidden = static_cast<int>(std::count_if(begin, end, std::not_fn(isShown)));
  add(header, kHeaderHeight);
  if (header.folded)
    return;
  addThreadsAndChannels(
      skeleton, addStreams(skeleton, tracks.first, tracks.counters), tracks.counters);
  addCounters(skeleton, tracks.counters, tracks.last);
}

std::size_t TrackLayout::addStreams(const Skeleton& skeleton, std::size_t first, std::size_t last) {
  std::size_t header = entries_.size();
  std::size_t at = first;
  for (; at < last && skeleton.tracks[at].owner == Owner::Stream; ++at) {
    const TrackInfo& track = skeleton.tracks[at];
    if (!shown(track))
      continue;
    if (header == entries_.size() || entries_[header].device != track.device) {
      LayoutEntry device{LayoutEntry::Type::Device, track.process};
      device.device = track.device;
      device.folded = foldedDevices_.contains({track.process, track.device});
      header = entries_.size();
      add(device, kGroupHeight);
    }
    ++entries_[header].count;
    if (!entries_[header].folded)
      add({LayoutEntry::Type::Track, track.process, static_cast<int>(at)}, trackHeight(track));
  }
  return at;
}

void TrackLayout::addThreadsAndChannels(const Skeleton& skeleton,
                                        std::size_t first,
                                        std::size_t last) {
  if (first == last)
    return;
  const int process = skeleton.tracks[first].process;
  const auto begin = skeleton.tracks.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = skeleton.tracks.begin() + static_cast<std::ptrdiff_t>(last);
  // A few network channels stand beside the threads; many are grouped.
  const auto network = std::count_if(
      begin, end, [&](const TrackInfo& track) { return track.network && shown(track); });
  const bool apart = network <= static_cast<std::ptrdiff_t>(kManyChannels);
  const auto grouped = [&](const TrackInfo& track) {
    return track.owner == Owner::Channel && shown(track) && !(track.network && apart);
  };
  LayoutEntry channels{LayoutEntry::Type::Channels, process};
  channels.folded = foldedChannels_.contains(process);
  channels.count = static_cast<int>(std::count_if(begin, end, grouped));
  bool inChannels = false;
  for (std::size_t at = first; at < last; ++at) {
    const TrackInfo& track = skeleton.tracks[at];
    if (!shown(track))
      continue;
    if (grouped(track) && !inChannels) {
      inChannels = true;
      add(channels, kGroupHeight);
    }
    if (inChannels && channels.folded)
      break;
    add({LayoutEntry::Type::Track, process, static_cast<int>(at)}, trackHeight(track));
  }
}

void TrackLayout::addCounters(const Skeleton& skeleton, std::size_t first, std::size_t last) {
  if (first == last)
    return;
  const TrackInfo& any = skeleton.tracks[first];
  LayoutEntry group{LayoutEntry::Type::Counters, any.process};
  group.isOfHost = any.counter->isOfHost;
  group.folded = !unfoldedCounters_.contains({group.process, group.isOfHost});
  group.count = static_cast<int>(last - first);
  add(group, kGroupHeight);
  for (std::size_t at = first; at < last && !group.folded; ++at)
    add({LayoutEntry::Type::Track, group.process, static_cast<int>(at)},
        trackHeight(skeleton.tracks[at]));
}

void TrackLayout::toggle(const Skeleton& skeleton, const LayoutEntry& entry) {
  const auto flip = [](auto& folded, const auto& what) {
    if (folded.erase(what) == 0)
      folded.insert(what);
  };
  if (entry.type == LayoutEntry::Type::Process)
    flip(foldedProcesses_, entry.process);
  else if (entry.type == LayoutEntry::Type::Device)
    flip(foldedDevices_, std::pair(entry.process, entry.device));
  else if (entry.type == LayoutEntry::Type::Channels)
    flip(foldedChannels_, entry.process);
  else if (entry.type == LayoutEntry::Type::Counters)
    flip(unfoldedCounters_, std::pair(entry.process, entry.isOfHost));
  rebuild(skeleton);
}

void TrackLayout::showEmpty(const Skeleton& skeleton, bool show) {
  showEmpty_ = show;
  rebuild(skeleton);
}

void TrackLayout::reveal(const Skeleton& skeleton, int track) {
  const TrackInfo& info = skeleton.tracks.at(static_cast<std::size_t>(track));
  const auto& rank = skeleton.processes[static_cast<std::size_t>(info.process)].rank;
  if (rank && rank != rank_)
    rank_.reset();
  foldedProcesses_.erase(info.process);
  foldedDevices_.erase({info.process, info.device});
  if (info.owner == Owner::Channel)
    foldedChannels_.erase(info.process);
  if (info.counter)
    unfoldedCounters_.insert({info.process, info.counter->isOfHost});
  rebuild(skeleton);
}

std::span<const LayoutEntry> TrackLayout::between(int top, int bottom) const {
  const auto first =
      std::partition_point(entries_.begin(), entries_.end(), [&](const LayoutEntry& e) {
        return e.y + e.height <= top;
      });
  const auto last = std::partition_point(
      first, entries_.end(), [&](const LayoutEntry& e) { return e.y < bottom; });
  return {first, last};
}

std::vector<int> TrackLayout::tracksBetween(int top, int bottom) const {
  std::vector<int> tracks;
  for (const LayoutEntry& entry : between(top, bottom))
    if (entry.track >= 0)
      tracks.push_back(entry.track);
  return tracks;
}

const LayoutEntry* TrackLayout::at(int y) const {
  const auto found = between(y, y + 1);
  return y < 0 || found.empty() ? nullptr : &found.front();
}

const LayoutEntry* TrackLayout::find(int track) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const LayoutEntry& entry) {
    return entry.track == track;
  });
  return found == entries_.end() ? nullptr : &*found;
}

const LayoutEntry* TrackLayout::findFolded(const TrackInfo& track) const {
  const auto group =
      track.owner == Owner::Stream ? LayoutEntry::Type::Device : LayoutEntry::Type::Channels;
  const LayoutEntry* found = nullptr;
  for (const LayoutEntry& entry : entries_) {
    if (entry.process != track.process || entry.type == LayoutEntry::Type::Track)
      continue;
    if (entry.type == LayoutEntry::Type::Process ||
        (entry.type == group && entry.device == track.device))
      found = &entry;
  }
  return found;
}

}  // namespace sonde::gui
