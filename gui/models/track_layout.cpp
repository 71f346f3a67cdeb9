#include "gui/models/track_layout.h"

#include <algorithm>

namespace sonde::gui {
namespace {

// The tracks [first, second) of each process; the skeleton keeps them together.
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

std::size_t channelsOf(const Skeleton& skeleton, std::size_t first, std::size_t last) {
  return static_cast<std::size_t>(
      std::count_if(skeleton.tracks.begin() + static_cast<std::ptrdiff_t>(first),
                    skeleton.tracks.begin() + static_cast<std::ptrdiff_t>(last),
                    [](const TrackInfo& track) { return track.owner == Owner::Channel; }));
}

int trackHeight(const TrackInfo& track) {
  return std::max(track.rows, 1) * TrackLayout::kRowHeight + 2 * TrackLayout::kTrackPadding;
}

}  // namespace

void TrackLayout::reset(const Skeleton& skeleton) {
  foldedProcesses_.clear();
  foldedChannels_.clear();
  forEachProcess(skeleton, [&](int process, std::size_t first, std::size_t last) {
    if (channelsOf(skeleton, first, last) > kManyChannels)
      foldedChannels_.insert(process);
  });
  rebuild(skeleton);
}

void TrackLayout::rebuild(const Skeleton& skeleton) {
  entries_.clear();
  height_ = 0;
  forEachProcess(skeleton, [&](int process, std::size_t first, std::size_t last) {
    addProcess(skeleton, process, first, last);
  });
}

void TrackLayout::add(LayoutEntry entry, int height) {
  entry.y = height_;
  entry.height = height;
  height_ += height;
  entries_.push_back(entry);
}

bool TrackLayout::shown(const TrackInfo& track, bool quietProcess) const {
  return track.rows > 0 || showEmpty_ || quietProcess;
}

void TrackLayout::addProcess(const Skeleton& skeleton,
                             int process,
                             std::size_t first,
                             std::size_t last) {
  const auto& tracks = skeleton.tracks;
  const bool quiet = std::none_of(tracks.begin() + static_cast<std::ptrdiff_t>(first),
                                  tracks.begin() + static_cast<std::ptrdiff_t>(last),
                                  [](const TrackInfo& track) { return track.rows > 0; });
  // A process in which nothing was recorded is one line that says so.
  const bool folded = foldedProcesses_.contains(process) || (quiet && !showEmpty_);
  int hidden = 0;
  for (std::size_t at = first; at < last; ++at)
    hidden += shown(tracks[at], false) ? 0 : 1;
  add({LayoutEntry::Type::Process, process, -1, 0, 0, folded, hidden}, kHeaderHeight);
  if (folded)
    return;
  bool channels = false;
  for (std::size_t at = first; at < last; ++at) {
    if (!shown(tracks[at], false))
      continue;
    if (tracks[at].owner == Owner::Channel && !channels) {
      channels = true;
      add({LayoutEntry::Type::Channels, process, -1, 0, 0, foldedChannels_.contains(process), 0},
          kGroupHeight);
    }
    if (channels && foldedChannels_.contains(process))
      break;
    add({LayoutEntry::Type::Track, process, static_cast<int>(at), 0, 0, false, 0},
        trackHeight(tracks[at]));
  }
}

void TrackLayout::toggle(const Skeleton& skeleton, const LayoutEntry& entry) {
  if (entry.type == LayoutEntry::Type::Track)
    return;
  auto& folded = entry.type == LayoutEntry::Type::Process ? foldedProcesses_ : foldedChannels_;
  if (folded.erase(entry.process) == 0)
    folded.insert(entry.process);
  rebuild(skeleton);
}

void TrackLayout::foldAll(const Skeleton& skeleton, bool fold) {
  foldedProcesses_.clear();
  if (fold)
    for (int process = 0; process < static_cast<int>(skeleton.processes.size()); ++process)
      foldedProcesses_.insert(process);
  rebuild(skeleton);
}

void TrackLayout::showEmpty(const Skeleton& skeleton, bool show) {
  showEmpty_ = show;
  rebuild(skeleton);
}

void TrackLayout::reveal(const Skeleton& skeleton, int track) {
  const TrackInfo& info = skeleton.tracks.at(static_cast<std::size_t>(track));
  foldedProcesses_.erase(info.process);
  if (info.owner == Owner::Channel)
    foldedChannels_.erase(info.process);
  rebuild(skeleton);
}

std::pair<std::size_t, std::size_t> TrackLayout::between(int top, int bottom) const {
  const auto first = std::partition_point(
      entries_.begin(), entries_.end(), [&](const LayoutEntry& e) { return e.y + e.height <= top; });
  const auto last =
      std::partition_point(first, entries_.end(), [&](const LayoutEntry& e) { return e.y < bottom; });
  return {static_cast<std::size_t>(first - entries_.begin()),
          static_cast<std::size_t>(last - entries_.begin())};
}

const LayoutEntry* TrackLayout::at(int y) const {
  const auto [first, last] = between(y, y + 1);
  return y < 0 || first == last ? nullptr : &entries_[first];
}

const LayoutEntry* TrackLayout::find(int track) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const LayoutEntry& entry) { return entry.track == track; });
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace sonde::gui
