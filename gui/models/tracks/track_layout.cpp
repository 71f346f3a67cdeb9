#include "gui/models/tracks/track_layout.h"

#include <algorithm>

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

bool busyThread(const TrackInfo& track) {
  return track.owner == Owner::Thread && track.rows > 0;
}

bool busyChannel(const TrackInfo& track) {
  return track.owner == Owner::Channel && track.rows > 0;
}

// How informative a process's tracks are, least first. Marks: only of forks and execs.
enum class Worth { Nothing, Marks, Transfers, Slices };

// The choice of the user takes precedence.
void choose(const std::map<std::int64_t, bool>& chosen, std::set<std::int64_t>& folded) {
  for (const auto& [process, isFolded] : chosen)
    if (isFolded)
      folded.insert(process);
    else
      folded.erase(process);
}

std::span<const LayoutEntry> crossing(const std::vector<LayoutEntry>& entries,
                                      int top,
                                      int bottom) {
  const auto first = std::partition_point(
      entries.begin(), entries.end(), [&](const LayoutEntry& e) { return e.y + e.height <= top; });
  const auto last = std::partition_point(
      first, entries.end(), [&](const LayoutEntry& e) { return e.y < bottom; });
  return {first, last};
}

const LayoutEntry* entryAt(const std::vector<LayoutEntry>& entries, int y) {
  const auto found = crossing(entries, y, y + 1);
  return y < 0 || found.empty() ? nullptr : &found.front();
}

}  // namespace

void TrackLayout::reset(const Skeleton& skeleton, TrackArrangement arrangement) {
  folds_ = {};
  chosenProcesses_.clear();
  chosenChannels_.clear();
  extend(skeleton, std::move(arrangement));
}

void TrackLayout::extend(const Skeleton& skeleton, TrackArrangement arrangement) {
  arrangement_ = std::move(arrangement);
  indices_.clear();
  for (std::size_t at = 0; at < skeleton.tracks.size(); ++at)
    indices_.emplace(idOf(skeleton.tracks[at]), static_cast<int>(at));
  fold(skeleton);
  rebuild(skeleton);
}

void TrackLayout::fold(const Skeleton& skeleton) {
  folds_.processes.clear();
  folds_.channels.clear();
  std::vector<Worth> worths;
  forEachProcess(skeleton, [&](int process, std::size_t first, std::size_t last) {
    const std::size_t channels = count(skeleton, first, last, busyChannel);
    const ProcessInfo& info = skeleton.processes[static_cast<std::size_t>(process)];
    if (channels > kManyChannels)
      folds_.channels.insert(info.id);
    const bool slices = info.slices > 0;
    const bool marks = count(skeleton, first, last, busyThread) > 0;
    worths.push_back(slices         ? Worth::Slices
                     : channels > 0 ? Worth::Transfers
                     : marks        ? Worth::Marks
                                    : Worth::Nothing);
  });
  const auto most = std::max_element(worths.begin(), worths.end());
  for (std::size_t at = 0; at < worths.size(); ++at) {
    if (worths[at] != Worth::Nothing && worths[at] != *most)
      folds_.processes.insert(skeleton.processes[at].id);
  }
  choose(chosenProcesses_, folds_.processes);
  choose(chosenChannels_, folds_.channels);
}

void TrackLayout::rebuild(const Skeleton& skeleton) {
  built_ = buildLayout(skeleton, indices_, arrangement_, folds_);
}

void TrackLayout::arrange(const Skeleton& skeleton, TrackArrangement arrangement) {
  arrangement_ = std::move(arrangement);
  rebuild(skeleton);
}

void TrackLayout::showRank(const Skeleton& skeleton, std::optional<std::int64_t> rank) {
  const bool isKnown = std::any_of(skeleton.processes.begin(),
                                   skeleton.processes.end(),
                                   [&](const ProcessInfo& each) { return each.rank == rank; });
  folds_.rank = isKnown ? rank : std::nullopt;
  rebuild(skeleton);
}

void TrackLayout::showEmpty(const Skeleton& skeleton, bool show) {
  folds_.showEmpty = show;
  rebuild(skeleton);
}

void TrackLayout::toggle(const Skeleton& skeleton, const LayoutEntry& entry) {
  // Returns whether it is folded now.
  const auto flip = [](auto& folded, const auto& what) {
    return folded.erase(what) == 0 && folded.insert(what).second;
  };
  const std::int64_t process = idAt(skeleton.processes, entry.process);
  if (entry.type == LayoutEntry::Type::Process)
    chosenProcesses_[process] = flip(folds_.processes, process);
  else if (entry.type == LayoutEntry::Type::Device)
    flip(folds_.devices, std::pair(process, idAt(skeleton.devices, entry.device)));
  else if (entry.type == LayoutEntry::Type::Channels)
    chosenChannels_[process] = flip(folds_.channels, process);
  else if (entry.type == LayoutEntry::Type::Counters)
    flip(folds_.shownCounters, std::pair(process, entry.isOfHost));
  else if (entry.type == LayoutEntry::Type::Kind)
    flip(folds_.toggledKinds, entry.kind);
  rebuild(skeleton);
}

void TrackLayout::reveal(const Skeleton& skeleton, int track) {
  constexpr int kLevels = 2;  // of groups
  const TrackInfo& info = skeleton.tracks.at(static_cast<std::size_t>(track));
  const auto& rank = skeleton.processes[static_cast<std::size_t>(info.process)].rank;
  if (rank && rank != folds_.rank)
    folds_.rank.reset();
  std::erase(arrangement_.hidden, idOf(info));
  rebuild(skeleton);
  for (int level = 0; level < kLevels; ++level)
    if (const LayoutEntry* folded = findFolded(track))
      toggle(skeleton, LayoutEntry(*folded));
}

std::span<const LayoutEntry> TrackLayout::between(int top, int bottom) const {
  return crossing(built_.entries, top, bottom);
}

std::vector<int> TrackLayout::tracksBetween(int top, int bottom) const {
  std::vector<int> tracks;
  for (const LayoutEntry& entry : between(top, bottom))
    if (entry.track >= 0)
      tracks.push_back(entry.track);
  return tracks;
}

const LayoutEntry* TrackLayout::at(int y) const {
  return entryAt(built_.entries, y);
}

std::span<const LayoutEntry> TrackLayout::pinnedBetween(int top, int bottom) const {
  return crossing(built_.pinned, top, bottom);
}

const LayoutEntry* TrackLayout::pinnedAt(int y) const {
  return entryAt(built_.pinned, y);
}

const LayoutEntry* TrackLayout::placeOf(int track) const {
  const auto at = static_cast<std::size_t>(track);
  const int place =
      track < 0 || at >= built_.places.size() ? BuiltLayout::kNowhere : built_.places[at];
  if (place == BuiltLayout::kNowhere)
    return nullptr;
  return place < 0 ? &built_.pinned[static_cast<std::size_t>(-2 - place)]
                   : &built_.entries[static_cast<std::size_t>(place)];
}

const LayoutEntry* TrackLayout::find(int track) const {
  const LayoutEntry* place = placeOf(track);
  return place != nullptr && place->track == track ? place : nullptr;
}

const LayoutEntry* TrackLayout::findFolded(int track) const {
  const LayoutEntry* place = placeOf(track);
  return place != nullptr && place->track < 0 ? place : nullptr;
}

std::vector<int> TrackLayout::tracksOf(const LayoutEntry& entry) const {
  if (entry.track >= 0)
    return {entry.track};
  const auto first = built_.members.begin() + static_cast<std::ptrdiff_t>(entry.firstMember);
  return {first, first + static_cast<std::ptrdiff_t>(entry.members)};
}

}  // namespace sonde::gui
