// The position of each process, group and track on the timeline's vertical axis, and which of them
// are folded.
//
// A value computed from the skeleton and the user's arrangement; computed again when one of them
// changes or a group is folded. Positions are pixels from 0: of the pinned tracks, and of all
// others, which scroll below them. The entry at a pixel is found by binary search, and that of a
// track by index, so ten thousand tracks cost no more than ten.
#pragma once

#include "gui/models/tracks/layout_builder.h"
#include "gui/models/tracks/track_arrangement.h"
#include "gui/trace/trace_data.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sonde::gui {

class TrackLayout {
 public:
  static constexpr int kHeaderHeight = 24;
  static constexpr int kGroupHeight = 20;
  static constexpr int kRowHeight = 18;
  static constexpr int kTrackPadding = 3;          // above and below a track's rows
  static constexpr std::size_t kManyChannels = 6;  // a process with more has them folded at first

  // Keeps no reference to `skeleton`. Folds large groups and all counters. Also folds processes
  // that only passed bytes on, or only forked and ran programs, if others did more.
  void reset(const Skeleton& skeleton, TrackArrangement arrangement = {});
  // `skeleton` is that of a later state of the trace: as reset(), but what the user folded or
  // unfolded stays.
  void extend(const Skeleton& skeleton, TrackArrangement arrangement);

  [[nodiscard]] const TrackArrangement& arrangement() const { return arrangement_; }
  void arrange(const Skeleton& skeleton, TrackArrangement arrangement);
  void toggle(const Skeleton& skeleton, const LayoutEntry& entry);
  void showEmpty(const Skeleton& skeleton, bool show);
  // Leaves out processes of other ranks, but neither their machines nor pinned tracks; nullopt, or
  // a rank that no process has: shows all.
  void showRank(const Skeleton& skeleton, std::optional<std::int64_t> rank);
  // Unfolds all groups that hide `track`, and shows it if the user had hidden it.
  void reveal(const Skeleton& skeleton, int track);

  // The entries that scroll, and the pinned ones.
  [[nodiscard]] const std::vector<LayoutEntry>& entries() const { return built_.entries; }
  [[nodiscard]] const std::vector<LayoutEntry>& pinned() const { return built_.pinned; }
  [[nodiscard]] int height() const { return built_.height; }
  [[nodiscard]] int pinnedHeight() const { return built_.pinnedHeight; }
  [[nodiscard]] bool showsEmpty() const { return folds_.showEmpty; }
  // The number of tracks that the user has hidden.
  [[nodiscard]] int hiddenTracks() const { return built_.hiddenTracks; }
  // The processes that are not left out, from top to bottom.
  [[nodiscard]] const std::vector<int>& processes() const { return built_.processes; }
  // The entries that cross [top, bottom), from top to bottom.
  [[nodiscard]] std::span<const LayoutEntry> between(int top, int bottom) const;
  // The tracks that cross [top, bottom), from top to bottom.
  [[nodiscard]] std::vector<int> tracksBetween(int top, int bottom) const;
  // The entry at `y`; nullptr below the last one.
  [[nodiscard]] const LayoutEntry* at(int y) const;
  // The same for the pinned ones.
  [[nodiscard]] std::span<const LayoutEntry> pinnedBetween(int top, int bottom) const;
  [[nodiscard]] const LayoutEntry* pinnedAt(int y) const;
  // No track of the process has events: it is one line, unless empty tracks are shown.
  [[nodiscard]] bool quiet(int process) const { return built_.quiet.contains(process); }
  // The entry of `track`, pinned or not; nullptr if it is folded away or hidden.
  [[nodiscard]] const LayoutEntry* find(int track) const;
  // The line of the folded group that contains `track`; nullptr if there is none.
  [[nodiscard]] const LayoutEntry* findFolded(int track) const;
  // The tracks below a group, also if it is folded; of a track itself.
  [[nodiscard]] std::vector<int> tracksOf(const LayoutEntry& entry) const;

 private:
  void fold(const Skeleton& skeleton);
  void rebuild(const Skeleton& skeleton);
  // Its own entry, or that of a folded group.
  [[nodiscard]] const LayoutEntry* placeOf(int track) const;

  std::map<TrackId, int> indices_;  // in Skeleton::tracks
  TrackArrangement arrangement_;
  LayoutFolds folds_;
  // By the id of the process, what the user chose: whether it, or its channels, are folded.
  std::map<std::int64_t, bool> chosenProcesses_;
  std::map<std::int64_t, bool> chosenChannels_;
  BuiltLayout built_;
};

}  // namespace sonde::gui
