// The spool as a ring: nothing is stored, and the oldest records are let go, when they are old
// enough or when the spool is nearly full. What is left is read by a Drainer, from the spool itself
// or from a copy. Owned by the recording, on its worker's thread; times are CLOCK_MONOTONIC.
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
  // `lastNs`: how far back it is to reach. `page` must outlive this object.
  FlightRing(std::filesystem::path folder, SessionPage& page, std::int64_t lastNs);

  struct Look {
    std::vector<ImageId> newImages;
    std::uint32_t liveImages = 0;
    std::uint64_t bytes = 0;  // in slots that are full for the first time
    std::vector<ImageId>
        crashed;  // images whose process ended without its own exit, since the last look
    std::int64_t roomNs = 0;  // where the newest began that had to go too early; 0: none had to
  };
  // Looks what there is, and lets go of what is too old; with `isFrozen` only of what the spool has
  // no room for, and of processes that have begun and ended since it was, when they are many.
  Look look(std::int64_t nowNs, bool isFrozen);
  // What has crashed may be let go like everything else: no dump will have it.
  void forgetCrashes();

  bool holds(const ImageId& image) const;

  // What there is now as spool files of their own, for a Drainer that keeps them. Makes the folder.
  Result<void> copyTo(const std::filesystem::path& folder);

 private:
  struct Image {
    SpoolReader reader;
    SlotAges ages;
    bool isOver = false;        // its process has ended, or gone on to another image
    bool isDead = false;        // its process has ended
    bool isOfPause = false;     // it began while the ring was frozen: it has an outline alone
    std::int64_t overNs = 0;    // since then
    bool awaitsDump = false;    // it has crashed, and no copy has it
    std::uint64_t refused = 0;  // records that the spool had no room for, at the last look
    bool isPressed = false;     // there were more since the look before
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
  std::map<std::string, Image> images_;  // by name of the file
  std::vector<ImageId> newImages_;       // since the last look
  std::set<std::string> unreadable_;
  bool isFrozen_ = false;  // at the last look
};

}  // namespace sonde::recorder
