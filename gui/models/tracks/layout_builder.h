// Computes the lines of the timeline from the skeleton, the user's arrangement and what is folded.
// A pure function; within gui/models/tracks. TrackLayout keeps the result.
#pragma once

#include "gui/models/tracks/track_arrangement.h"
#include "gui/trace/trace_data.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace sonde::gui {

struct LayoutEntry {
  enum class Type { Process, Device, Channels, Counters, Kind, Track };
  Type type = Type::Track;
  int process = 0;  // -1: a group of tracks of several
  int track = -1;   // Type::Track only
  int device = -1;  // Type::Device: index in Skeleton::devices, -1: unknown
  int y = 0;
  int height = 0;
  bool folded = false;    // all but Type::Track
  int hidden = 0;         // Type::Process: tracks without events that are left out
  int count = 0;          // of a group: number of its tracks
  bool isOfHost = false;  // Type::Counters: of the machine
  bool isPinned = false;  // `y` counts from the top of the pinned tracks
  bool isApart = false;   // Type::Track: not below its process, so its label names that
  QString kind = {};      // Type::Kind
  // The tracks below it, in BuiltLayout::members.
  std::size_t firstMember = 0;
  std::size_t members = 0;
};

// The groups that the user folded, and the tracks that are left out.
// By ids in the trace, so that a later state of it has the same. -1: no process, or unknown device.
struct LayoutFolds {
  std::set<std::int64_t> processes;
  std::set<std::pair<std::int64_t, std::int64_t>> devices;  // process, device
  std::set<std::int64_t> channels;                          // of these processes
  std::set<std::pair<std::int64_t, bool>> shownCounters;    // those of other processes are folded;
                                                            // of its machine
  std::set<QString> toggledKinds;    // kinds of counters begin folded, others do not
  bool showEmpty = false;            // tracks without events
  std::optional<std::int64_t> rank;  // of the processes that are shown; nullopt: all
};

struct BuiltLayout {
  static constexpr int kNowhere = -1;
  std::vector<LayoutEntry> entries;  // those that scroll
  std::vector<LayoutEntry> pinned;
  int height = 0;
  int pinnedHeight = 0;
  std::vector<int> members;  // the tracks of all groups
  // By track, the index of its entry, or of the folded one above it; -2, -3, … if it is pinned.
  std::vector<int> places;
  std::vector<int> processes;  // those that are not left out, from top to bottom
  std::set<int> quiet;         // no track of the process has events
  int hiddenTracks = 0;        // by the user
};

// `indices`: of all tracks in Skeleton::tracks. O(tracks · log(tracks)).
// The id of an entry of Skeleton::processes or ::devices; -1 of none.
template <typename Infos>
[[nodiscard]] std::int64_t idAt(const Infos& infos, int index) {
  return index < 0 ? -1 : infos[static_cast<std::size_t>(index)].id;
}

[[nodiscard]] BuiltLayout buildLayout(const Skeleton& skeleton,
                                      const std::map<TrackId, int>& indices,
                                      const TrackArrangement& arrangement,
                                      const LayoutFolds& folds);

}  // namespace sonde::gui
