// The position of each process, group and track on the timeline's vertical axis, and which of them
// are folded.
//
// A value computed from the skeleton; computed again when a group is folded. Positions are pixels
// of the scrolled content, from 0. Finding the entry at a pixel is a binary search, so ten thousand
// threads cost no more than ten.
#pragma once

#include "gui/trace/trace_data.h"

#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace sonde::gui {

struct LayoutEntry {
  enum class Type { Process, Device, Channels, Counters, Track };
  Type type = Type::Track;
  int process = 0;
  int track = -1;   // Type::Track only
  int device = -1;  // Type::Device: index in Skeleton::devices, -1: unknown
  int y = 0;
  int height = 0;
  bool folded = false;    // all but Type::Track
  int hidden = 0;         // Type::Process: tracks without events that are hidden
  int count = 0;          // of a group: number of streams, channels or counters
  bool isOfHost = false;  // Type::Counters: of the machine
};

class TrackLayout {
 public:
  static constexpr int kHeaderHeight = 24;
  static constexpr int kGroupHeight = 20;
  static constexpr int kRowHeight = 18;
  static constexpr int kTrackPadding = 3;          // above and below a track's rows
  static constexpr std::size_t kManyChannels = 6;  // a process with more has them folded at first

  // Keeps no reference to `skeleton`. Folds large groups and all counters. Also folds processes
  // that only passed bytes on, or only forked and ran programs, if others did more.
  void reset(const Skeleton& skeleton);
  void rebuild(const Skeleton& skeleton);

  void toggle(const Skeleton& skeleton, const LayoutEntry& entry);
  void showEmpty(const Skeleton& skeleton, bool show);
  // Leaves out processes of other ranks, but not their machines; nullopt, or a rank that no process
  // has: shows all.
  void showRank(const Skeleton& skeleton, std::optional<std::int64_t> rank);
  // Unfolds all groups that hide `track`.
  void reveal(const Skeleton& skeleton, int track);

  [[nodiscard]] const std::vector<LayoutEntry>& entries() const { return entries_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] bool showsEmpty() const { return showEmpty_; }
  // The entries that cross [top, bottom), from top to bottom.
  [[nodiscard]] std::span<const LayoutEntry> between(int top, int bottom) const;
  // The tracks that cross [top, bottom), from top to bottom.
  [[nodiscard]] std::vector<int> tracksBetween(int top, int bottom) const;
  // The entry at `y`; nullptr below the last one.
  [[nodiscard]] const LayoutEntry* at(int y) const;
  // No track of the process has events: it is one line, unless empty tracks are shown.
  [[nodiscard]] bool quiet(int process) const { return quiet_.contains(process); }
  // The entry of `track`; nullptr if it is folded away.
  [[nodiscard]] const LayoutEntry* find(int track) const;
  // The line of the folded group that contains a track.
  [[nodiscard]] const LayoutEntry* findFolded(const TrackInfo& track) const;

 private:
  void add(LayoutEntry entry, int height);
  // Indices in Skeleton::tracks.
  struct ProcessTracks {
    std::size_t first;
    std::size_t counters;  // the first counter
    std::size_t last;
  };
  void addProcess(const Skeleton& skeleton, int process, const ProcessTracks& tracks);
  // Returns the first track that is not a stream's.
  std::size_t addStreams(const Skeleton& skeleton, std::size_t first, std::size_t last);
  void addThreadsAndChannels(const Skeleton& skeleton, std::size_t first, std::size_t last);
  // The group of the counters [first, last).
  void addCounters(const Skeleton& skeleton, std::size_t first, std::size_t last);
  [[nodiscard]] bool shown(const TrackInfo& track) const { return track.rows > 0 || showEmpty_; }

  std::vector<LayoutEntry> entries_;
  std::set<int> foldedProcesses_;
  std::set<std::pair<int, int>> foldedDevices_;  // process, device
  std::set<int> foldedChannels_;
  std::set<std::pair<int, bool>> unfoldedCounters_;  // process, of its machine
  std::set<int> quiet_;
  int height_ = 0;
  bool showEmpty_ = false;
  std::optional<std::int64_t> rank_;
};

}  // namespace sonde::gui
