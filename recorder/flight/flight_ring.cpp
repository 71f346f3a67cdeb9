#include "recorder/flight/flight_ring.h"

#include "recorder/launcher/descriptor_limit.h"
#include "recorder/spool/image_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

// The share of an image's slots that must be free at each look, for the records until the next
// look. It is at least this share, and twice the number written since the last look, up to a half.
constexpr std::uint64_t kReserveShare = 8;
constexpr std::uint64_t kLeastReserveSlots = 4;
constexpr std::uint64_t kMostReserveShare = 2;
// The ring may use this share of the session's limit: above three quarters, new processes get no
// file.
constexpr std::uint64_t kRingEighths = 5;

ImageId idOf(const SpoolReader& reader) {
  const SpoolIdentity& who = reader.identity();
  return {who.pid, who.startTime, who.execCount};
}

std::uint64_t refusedBy(const SpoolReader& reader) {
  std::uint64_t refused = 0;
  for (const auto& kinds : reader.losses())
    for (const auto& reasons : kinds)
      refused += reasons[static_cast<std::size_t>(wire::LossReason::SpoolFull)];
  return refused;
}

void raiseTo(std::atomic<std::int64_t>& value, std::int64_t atLeast) {
  if (value.load() < atLeast)
    value.store(atLeast);
}

}  // namespace

FlightRing::FlightRing(fs::path folder, SessionPage& page, std::int64_t lastNs)
    : folder_(std::move(folder)), page_(page), lastNs_(lastNs) {}

bool FlightRing::holds(const ImageId& image) const {
  return std::any_of(images_.begin(), images_.end(), [&](const auto& entry) {
    const ImageId id = idOf(entry.second.reader);
    return id.pid == image.pid && id.startTime == image.startTime &&
           (image.execCount == ImageId::kLast || image.execCount == id.execCount);
  });
}

void FlightRing::scan() {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder_, failure)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".spool" || images_.contains(name) ||
        unreadable_.contains(name) || launcher::descriptorsAreScarce())
      continue;
    auto reader = SpoolReader::open(entry.path(), SpoolReader::Access::ReadWrite);
    if (!reader) {
      if (reader.error().code != ErrorCode::Busy)
        unreadable_.insert(name);
      continue;
    }
    newImages_.push_back(idOf(*reader));
    Image image{*std::move(reader), {}};
    image.isOfPause = isFrozen_;
    images_.emplace(name, std::move(image));
  }
}

bool FlightRing::isReplaced(const Image& image) const {
  const SpoolIdentity& who = image.reader.identity();
  return std::any_of(images_.begin(), images_.end(), [&](const auto& entry) {
    const SpoolIdentity& other = entry.second.reader.identity();
    return isSameProcess(who, other) && other.execCount > who.execCount;
  });
}

void FlightRing::follow(Image& image, std::int64_t nowNs, Look& look) {
  if (!image.isDead && !processRuns(image.reader.identity())) {
    image.isDead = true;
    image.awaitsDump =
        !isReplaced(image) && !image.reader.finished() && !image.reader.hasBecomeAnother();
    if (image.awaitsDump)
      look.crashed.push_back(idOf(image.reader));
  }
  if (!image.isOver && (image.isDead || isReplaced(image))) {
    image.isOver = true;
    image.overNs = nowNs;
  }
  look.liveImages += image.isOver ? 0 : 1;
  look.bytes += image.ages.look(image.reader.snapshot(), image.isOver, nowNs);
  const std::uint64_t refused = refusedBy(image.reader);
  image.isPressed = refused > std::exchange(image.refused, refused);
  if (image.isPressed)
    raiseTo(page_.words().completeFromNs, nowNs);
}

void FlightRing::giveBack(Image& image, std::size_t count, bool tooEarly) {
  RecorderWords& words = page_.words();
  for (std::size_t at = 0; at < count; ++at) {
    const SlotAges::Aged& aged = image.ages.full()[at];
    words.discardedBytes.fetch_add(aged.slot.committed);
    words.discardedSlots.fetch_add(1);
    words.cutShortSlots.fetch_add(tooEarly ? 1 : 0);
    raiseTo(words.completeFromNs, aged.fullSinceNs);
    image.reader.release(aged.slot);
  }
  image.ages.forget(count);
}

void FlightRing::age(Image& image, std::int64_t nowNs) {
  giveBack(image, image.ages.fullBefore(nowNs - lastNs_), false);
}

// In slots. An image whose records were refused has none, whatever the reason.
std::uint64_t FlightRing::roomToGrow(const Image& image) const {
  if (image.isPressed)
    return 0;
  const std::uint64_t limit = page_.limitBytes() / 8 * kRingEighths;
  const std::uint64_t own = image.reader.allocatedBytes() / wire::kSlotBytes;
  const std::uint64_t most = image.reader.mostSlots();
  return std::min((limit - std::min(page_.allocatedBytes(), limit)) / wire::kSlotBytes,
                  most - std::min(own, most));
}

// A process takes free slots first, then the room that the session has left.
void FlightRing::makeRoom(Image& image, std::int64_t nowNs, Look& look) {
  const std::uint64_t own = image.reader.allocatedBytes() / wire::kSlotBytes;
  const std::uint64_t reserve =
      std::max({own / kReserveShare,
                kLeastReserveSlots,
                std::min(2 * image.ages.freshSlots(), own / kMostReserveShare)});
  const std::uint64_t room = image.reader.freeSlots() + roomToGrow(image);
  if (room >= reserve)
    return;
  const std::size_t count = std::min<std::size_t>(reserve - room, image.ages.full().size());
  if (count > 0)
    look.roomNs = std::max(std::int64_t{1}, nowNs - image.ages.full()[count - 1].fullSinceNs);
  giveBack(image, count, true);
}

void FlightRing::remove(const std::string& name, Image& image, bool tooEarly) {
  giveBack(image, image.ages.full().size(), tooEarly);
  deleteFile(name, image);
}

void FlightRing::deleteFile(const std::string& name, const Image& image) {
  const std::uint64_t bytes = image.reader.allocatedBytes();
  std::error_code failure;
  if (fs::remove(folder_ / name, failure))
    page_.freeBytes(bytes);
}

// The latest end of a process. That process may have been the job.
std::int64_t FlightRing::lastEnd() const {
  std::int64_t last = INT64_MIN;
  for (const auto& [name, image] : images_)
    last = image.isDead ? std::max(last, image.overNs) : last;
  return last;
}

// A process counts its images by the existing files, so all stay until it is dead, and as long as
// other records from that time. Crashed images stay until a dump has them.
void FlightRing::dropEnded(std::int64_t nowNs) {
  const std::int64_t complete = page_.words().completeFromNs.load();
  const std::int64_t last = lastEnd();
  std::uint64_t bytes = 0;
  for (auto at = images_.begin(); at != images_.end();) {
    Image& image = at->second;
    const bool isOld =
        image.isDead && !image.awaitsDump &&
        (image.overNs < nowNs - lastNs_ || (image.overNs < complete && image.overNs != last));
    bytes += image.isDead && !isOld ? image.reader.allocatedBytes() : 0;
    if (isOld)
      remove(at->first, image, false);
    at = isOld ? images_.erase(at) : std::next(at);
  }
  // New processes need room, too.
  const auto mayGo = [last](const Image& image) {
    return image.isDead && !image.awaitsDump && image.overNs != last;
  };
  while (bytes > page_.limitBytes() / 2) {
    const auto oldest = std::min_element(images_.begin(), images_.end(), [&](auto& a, auto& b) {
      return std::pair(!mayGo(a.second), a.second.overNs) <
             std::pair(!mayGo(b.second), b.second.overNs);
    });
    if (oldest == images_.end() || !mayGo(oldest->second))
      return;
    bytes -= oldest->second.reader.allocatedBytes();
    remove(oldest->first, oldest->second, true);
    images_.erase(oldest);
  }
}

// Images from before the pause stay.
void FlightRing::dropOfPause() {
  std::uint64_t bytes = 0;
  for (const auto& [name, image] : images_)
    bytes += image.isDead && image.isOfPause ? image.reader.allocatedBytes() : 0;
  if (bytes <= page_.limitBytes() / 8)
    return;
  const std::int64_t last = lastEnd();
  std::erase_if(images_, [&](const auto& entry) {
    const auto& [name, image] = entry;
    const bool goes = image.isOfPause && image.isDead && !image.awaitsDump && image.overNs != last;
    if (goes)
      deleteFile(name, image);
    return goes;
  });
}

void FlightRing::forgetCrashes() {
  for (auto& [name, image] : images_)
    image.awaitsDump = false;
}

FlightRing::Look FlightRing::look(std::int64_t nowNs, bool isFrozen) {
  Look look;
  isFrozen_ = isFrozen;
  scan();
  look.newImages = std::exchange(newImages_, {});
  for (auto& [name, image] : images_)
    follow(image, nowNs, look);
  if (isFrozen)
    dropOfPause();
  else
    dropEnded(nowNs);
  for (auto& [name, image] : images_) {
    if (!isFrozen)
      age(image, nowNs);
    if (!image.isOver)
      makeRoom(image, nowNs, look);
  }
  page_.words().seenNs.store(nowNs);
  return look;
}

Result<void> FlightRing::copyTo(const fs::path& folder) {
  std::error_code failure;
  fs::create_directory(folder, failure);
  if (failure)
    return Error{ErrorCode::Io, fmt::format("{}: {}", folder.string(), failure.message())};
  fs::permissions(folder, fs::perms::owner_all, failure);
  scan();  // so that a process that has just started is included
  for (auto& [name, image] : images_)
    SONDE_TRY(image.reader.copyTo(folder / name));
  forgetCrashes();
  return {};
}

}  // namespace sonde::recorder
