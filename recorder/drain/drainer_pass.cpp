// One pass of a Drainer: stores the spool's records in one transaction.
#include "recorder/drain/drainer.h"
#include "recorder/spool/session_page.h"

#include <algorithm>
#include <string_view>

namespace sonde::recorder {

namespace {

constexpr std::string_view kOutputFull = "output full";
constexpr std::string_view kMaxSize = "max size";

bool isSpoolHalfFull(const std::filesystem::path& folder) {
  const auto page = SessionPage::open(folder);
  return page && page->allocatedBytes() > page->limitBytes() / 2;
}

}  // namespace

// Nothing waits near a limit, or while the kind of a process depends on its records.
bool Drainer::mayWait(const std::vector<Ending>& ending, DrainProgress& progress) {
  const std::int64_t nowNs = options_.clock().monotonicNs;
  if (!delay_.isPossible(nowNs) || stall_ || limitReached_ || thinning_.isActive() ||
      notes_.pending() || images_->waiting() > 0 || isSpoolHalfFull(options_.folder))
    return false;
  std::uint64_t endingBytes = 0;
  for (const Ending& end : ending)
    endingBytes += end.image->reader().allocatedBytes();
  const auto waiting = delay_.waitingBytes(*images_, endingBytes, nowNs);
  progress.waitingBytes = waiting.value_or(0);
  return waiting.has_value();
}

void Drainer::scan(DrainProgress& progress) {
  std::vector<ImageSet::Unreadable> unreadable;
  const auto fresh = images_->scan(recorder_->writer().database(), unreadable);
  progress.newImages.insert(progress.newImages.end(), fresh.begin(), fresh.end());
  if (!fresh.empty())
    notes_.tryFactsAgain();
  for (const ImageSet::Unreadable& file : unreadable) {
    if (!unreadable_.insert(file.file).second)
      continue;
    notes_.addLoss("process", "unknown", "damaged", 1);
    notes_.setMeta("unreadable " + file.file, file.why);
  }
}

std::vector<Drainer::Ending> Drainer::findEnding(Pass pass, DrainProgress& progress) const {
  std::vector<Ending> ending;
  progress.liveImages = images_->waiting();
  for (const auto& image : images_->open()) {
    const bool over = images_->isOver(*image);
    progress.liveImages += over ? 0 : 1;
    if (over || pass != Pass::Store)
      ending.push_back({image.get(), !over});
  }
  return ending;
}

bool Drainer::findWork(std::vector<Ending>& ending, std::int64_t nowNs, std::uint64_t& bytes) {
  // Slots are given back after the transaction has committed. The larger it is, the longer a full
  // spool stays full, and the more room it takes at once.
  const std::uint64_t most = std::clamp<std::uint64_t>(
      room_.freeBytes() / 16 / std::max<std::size_t>(images_->open().size(), 1), 64 << 10, 4 << 20);
  bool work = stall_ || notes_.pending() || samples_.isDue();
  for (const auto& image : images_->open()) {
    const std::uint64_t found = image->slots().look(most);
    bytes += found;
    // Records that are only counted are not given back, and are no work the next time.
    work = work || (limitReached_ ? found > 0 : image->slots().hasWork()) || !image->begun();
  }
  delay_.still().sawWaiting(bytes, nowNs);
  work = work || (delay_.still().isDue(nowNs) && !limitReached_);
  std::erase_if(ending, [](const Ending& end) { return end.image->slots().hasMore(); });
  return work || !ending.empty();
}

Result<void> Drainer::findRoom(Pass pass, std::uint64_t bytes) {
  if (counts(pass))
    return {};
  if (!room_.withinLimit(bytes))
    SONDE_TRY(recorder_->writer().foldLog());
  if (room_.withinLimit(bytes))
    return room_.check(bytes);
  reachLimit();
  return {};
}

// One transaction. Asks whether a process has ended before it looks for its records, so that its
// last records are included. Reads the clocks after that, so that no record is younger than the
// reading.
Result<bool> Drainer::run(Pass pass, DrainProgress& progress) {
  scan(progress);
  std::vector<Ending> ending = findEnding(pass, progress);
  if (pass == Pass::Store && mayWait(ending, progress)) {
    if (progress.waitingBytes > 0)
      recorder_->holdReading(options_.clock());
    return true;
  }
  // The job is over when all images are closed.
  const std::int64_t beganNs = pass == Pass::Store ? options_.clock().monotonicNs : 0;
  std::uint64_t bytes = 0;
  const bool work = findWork(ending, beganNs, bytes);
  if (work || pass != Pass::Store) {
    SONDE_TRY(findRoom(pass, bytes));
    SONDE_TRY(recorder_->writer().begin());
    SONDE_TRY_ASSIGN(const std::uint64_t records, storeAll(pass, ending, beganNs));
    SONDE_TRY(recorder_->writer().commit());
    notes_.committed();
    samples_.committed();
    storing_.committed();
    delay_.still().stored(beganNs);
    stall_.reset();
    progress.records += records;
    if (pass == Pass::Store && !limitReached_)
      thinning_.update(room_.shareLeft(), options_.clock(), *images_, notes_);
  }
  progress.bytes += bytes;
  totals_.bytes += bytes;
  const bool hasMore = giveBack(pass, !ending.empty());
  delay_.passed(hasMore);
  const bool isNoted = work && pass == Pass::Store;
  if (hasMore && !isNoted)
    return false;
  const std::int64_t endedNs = options_.clock().monotonicNs;
  if (isNoted)
    storing_.add(beganNs, endedNs);
  if (!hasMore)
    delay_.storedAll(endedNs);
  return !hasMore;
}

bool Drainer::giveBack(Pass pass, bool anyEnded) {
  // Images that are closed now make room for those that wait.
  bool more = images_->waiting() > 0 && anyEnded;
  for (const auto& image : images_->open()) {
    more = more || image->slots().hasMore();
    // Records that are only counted are stored as a loss when their image closes; they stay until
    // then.
    if (!counts(pass) || image->finished())
      images_->giveBack(*image);
    if (image->finished())
      totals_.skippedRecords += image->counts().skipped + image->counts().damaged;
  }
  images_->sweep();
  return more;
}

Result<void> Drainer::runToTheEnd(Pass pass, DrainProgress& progress) {
  for (bool done = false; !done;) {
    SONDE_TRY_ASSIGN(done, run(pass, progress));
  }
  return {};
}

// Whether this pass stores everything that was recorded before it began. While recording is paused,
// nothing more is recorded.
bool Drainer::knowsAll(Pass pass) {
  isPaused_ = images_->isPaused().value_or(isPaused_);
  return !isPaused_ && !counts(pass) && images_->waiting() == 0 &&
         std::none_of(images_->open().begin(), images_->open().end(), [](const auto& image) {
           return image->slots().hasMore();
         });
}

Result<std::uint64_t> Drainer::storeAll(Pass pass,
                                        const std::vector<Ending>& ending,
                                        std::int64_t beganNs) {
  const ClockTriple now = options_.clock();
  std::uint64_t records = 0;
  SONDE_TRY(beginImages(now));
  for (const auto& image : images_->open()) {
    if (counts(pass))
      image->giveUp(limitReached_ ? kMaxSize : kOutputFull);
    else
      records += image->store(recorder_->sink(), now.monotonicNs);
    if (notes_.wantsStacks() && !counts(pass))
      image->storeStill(now.monotonicNs);
  }
  if (stall_)
    SONDE_TRY(recorder_->addNote(
        model::Severity::Warning,
        stall_->since().monotonicNs,
        pass == Pass::CountAndClose ? stall_->whenItDidNotEnd() : stall_->whenItEnded(now)));
  if (knowsAll(pass))
    SONDE_TRY(recorder_->noteWatermark(pass == Pass::Store ? beganNs : now.monotonicNs));
  SONDE_TRY(notes_.store(*images_, *recorder_));
  SONDE_TRY(samples_.store(*images_, *recorder_));
  SONDE_TRY(storing_.store(*recorder_, pass == Pass::Store ? now.monotonicNs : INT64_MAX));
  for (const Ending& end : ending)
    images_->close(*end.image, end.runs, now.monotonicNs, recorder_->sink());
  // From here on only the finaliser is left, even after an interruption.
  if (pass != Pass::Store && ending.size() == images_->open().size() && images_->waiting() == 0)
    recorder_->sink().add(model::Meta{"drained", "1"});
  if (recorder_->sink().failed())
    return recorder_->sink().failure();
  return records;
}

Result<void> Drainer::beginImages(const ClockTriple& now) {
  std::vector<std::pair<SpoolImage*, TraceRecorder::Host*>> fresh;
  for (const auto& image : images_->open()) {
    SONDE_TRY_ASSIGN(TraceRecorder::Host* const host, recorder_->hostOf(image->identity()));
    if (image->identity().clock == wire::ClockKind::Tsc) {
      host->hasTicks = true;
      image->offerClocks(host->fit);
    }
    if (!image->begun())
      fresh.emplace_back(image.get(), host);
  }
  recorder_->settleClocks(now);
  for (const auto& [image, host] : fresh) {
    image->process().row.hostId = host->id;
    image->process().row.parentId = images_->parentOf(*image);
    if (!image->process().row.command && !image->identity().command.empty())
      image->setCommand(options_.redactor.commandLine(image->identity().command));
    SONDE_TRY(
        image->begin(recorder_->sink(), TraceRecorder::timeBase(*host, image->identity().clock)));
  }
  return {};
}

}  // namespace sonde::recorder
