// The spool as a ring: nothing is stored, and the oldest records are discarded when they are old
// enough or when the spool is nearly full. A Drainer reads the rest, from the spool itself or from
// a copy. Owned by the recording, on its worker's thread; times are CLOCK_MONOTONIC.
#pragma once

#include "base/result.h"
#include "recorder/drain/drainer.h"
#include "recorder/flight/slot_ages.h"
#include "recorder/spool/session_page.h"
#include "recorder/spool_file/spool_reader.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sonde::recorder {

class FlightRing {
 public:
  // `lastNs`: how long records are kept. `page` must outlive this object.
  FlightRing(std::filesystem::path folder, SessionPage& page, std::int64_t lastNs);

  struct Look {
    std::vector<ImageId> newImages;
    std::uint32_t liveImages = 0;
    std::uint64_t bytes = 0;  // in slots that are full for the first time
    std::vector<ImageId>
        crashed;  // images whose process ended without its own exit, since the last look
    // Age of the newest records that were discarded too early; 0: none were.
    std::int64_t roomNs = 0;
  };
  // Looks for new records and discards old ones. With `isFrozen` discards only those for which the
  // spool has no room. Also discards processes that have started and ended since the freeze, if
  // there are many.
  Look look(std::int64_t nowNs, bool isFrozen);
  // Crashed processes may be discarded like all others: no dump will contain them.
  void forgetCrashes();

  bool holds(const ImageId& image) const;

  // Copies the ring to spool files of its own, for a Drainer that keeps them. Creates the folder.
  Result<void> copyTo(const std::filesystem::path& folder);

 private:
  struct Image {
    SpoolReader reader;
    SlotAges ages;
    bool isOver = false;        // its process has ended, or moved on to another image
    bool isDead = false;        // its process has ended
    bool isOfPause = false;     // started while the ring was frozen: recorded in outline only
    std::int64_t overNs = 0;    // when isOver became true
    bool awaitsDump = false;    // crashed, and not in any copy yet
    std::uint64_t refused = 0;  // records for which the spool had no room, at the last look
    bool isPressed = false;     // refused has grown since the look before
  };

  void scan();
  void follow(Image& image, std::int64_t nowNs, Look& look);
  bool isReplaced(const Image& image) const;
  void age(Image& image, std::int64_t nowNs);
  void makeRoom(Image& image, std::int64_t nowNs, Look& look);
  void giveBack(Image& image, std::size_t count, bool tooEarly);
  void dropEnded(std::int64_t nowNs);
  std::int64_t lastEnd() const;
  void dropOfPause();
  void remove(const std::string& name, Image& image, bool tooEarly);
  void deleteFile(const std::string& name, const Image& image);
  std::uint64_t roomToGrow(const Image& image) const;

  std::filesystem::path folder_;
  SessionPage& page_;
  std::int64_t lastNs_;
  std::map<std::string, Image> images_;  // by file name
  std::vector<ImageId> newImages_;       // since the last look
  std::set<std::string> unreadable_;
  bool isFrozen_ = false;  // at the last look
};

}  // namespace sonde::recorder
