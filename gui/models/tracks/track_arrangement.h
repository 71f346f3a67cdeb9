// How the user arranged the tracks of the timeline: their groups, the order of the processes, and
// which tracks are pinned or hidden. TrackLayout computes positions from it. A plain value.
//
// It names tracks and processes by their ids in the trace. So it stays valid when an unfinished
// trace is opened again and has more of them. Ids that the trace lacks have no effect.
#pragma once

#include "gui/trace/trace_data.h"

#include <QByteArray>

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace sonde::gui {

// Identifies a track.
struct TrackId {
  Owner owner = Owner::Thread;
  std::int64_t id = 0;
  auto operator<=>(const TrackId&) const = default;
};
[[nodiscard]] inline TrackId idOf(const TrackInfo& track) {
  return {track.owner, track.id};
}

struct TrackArrangement {
  // The tracks that have a common line above them: those of a process; the streams and counters of
  // a device; those of one kind, of all processes.
  enum class Grouping : std::uint8_t { Process, Device, Kind };
  // Rank: as Skeleton::processes. Events: those with most events first.
  enum class Order : std::uint8_t { Rank, Start, Events, ByHand };

  Grouping grouping = Grouping::Process;
  Order order = Order::Rank;
  std::vector<std::int64_t> byHand;  // Order::ByHand: ids of processes; others follow by rank
  std::vector<TrackId> pinned;       // from top to bottom
  std::vector<TrackId> hidden;       // ascending

  bool operator==(const TrackArrangement&) const = default;

  // If all are pinned, unpins them; otherwise pins those that are not.
  void togglePinned(std::span<const TrackId> tracks);
  // A pinned track that is hidden is no longer pinned.
  void hide(std::span<const TrackId> tracks);
  // Puts a process above another one; -1: below all. From then on the order is by hand.
  void moveProcess(const Skeleton& skeleton, int process, int above);
  // Forgets everything that refers to one trace.
  void forgetTrace();
};

// For the session. A text that is none gives the default arrangement.
[[nodiscard]] QByteArray textOf(const TrackArrangement& arrangement);
[[nodiscard]] TrackArrangement arrangementOf(const QByteArray& text);

// The indices of Skeleton::processes in the chosen order.
[[nodiscard]] std::vector<int> orderOf(const TrackArrangement& arrangement,
                                       const Skeleton& skeleton);

// The kind of a track: what similar tracks of all processes have in common. "main thread",
// "communication streams", "power".
[[nodiscard]] QString kindOf(const TrackInfo& track);

}  // namespace sonde::gui
