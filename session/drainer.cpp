#include "session/drainer.h"

#include "session/host_clock.h"
#include "session/image_set.h"
#include "session/manifest.h"
#include "session/recorder_notes.h"
#include "session/session_page.h"
#include "session/stall.h"
#include "session/trace_recorder.h"
#include "session/trace_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sonde::session {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kOutputFull = "output full";
constexpr std::string_view kMaxSize = "max size";

}  // namespace

class Drainer::Impl {
 public:
  Impl(DrainerOptions options, std::optional<SpoolLock> lock);

  Result<void> openTrace();
  DrainProgress drainOnce();
  Result<DrainTotals> finish(const fs::path& output, std::function<MetaRows()> lastMeta);

  RecorderNotes& notes() noexcept { return notes_; }
  void noteWarning(std::string text) {
    notes_.addWarning(options_.clock().monotonicNs, std::move(text));
  }
  void stopRecording() const { session::stopRecording(options_.folder); }
  const DrainTotals& totals() const { return totals_; }

 private:
  // What becomes of the records, and which images are closed: those of ended processes, or all.
  enum class Pass { Store, StoreAndClose, CountAndClose };
  struct Ending {
    SpoolImage* image;
    bool runs;
  };

  void stall(const Error& error);
  void reachLimit();
  bool counts(Pass pass) const { return limitReached_ || pass == Pass::CountAndClose; }
  bool mayStore();
  void scan(DrainProgress& progress);
  std::vector<Ending> findEnding(Pass pass, DrainProgress& progress) const;
  bool findWork(std::vector<Ending>& ending, std::uint64_t& bytes) const;
  // For so many bytes of the spool, unless they are to be counted; they are past the limit.
  Result<void> findRoom(Pass pass, std::uint64_t bytes);
  // False: there is more to be done by another call.
  Result<bool> run(Pass pass, DrainProgress& progress);
  Result<void> runToTheEnd(Pass pass, DrainProgress& progress);
  // Returns the number of records.
  Result<std::uint64_t> storeAll(Pass pass, const std::vector<Ending>& ending);
  Result<void> beginImages(const ClockTriple& now);
  Result<void> closeAll();
  Result<store::Database> releaseTrace();

  DrainerOptions options_;
  std::optional<SpoolLock> lock_;
  TraceRoom room_;
  std::unique_ptr<TraceRecorder> recorder_;
  std::unique_ptr<ImageSet> images_;  // its builders refer to recorder_
  RecorderNotes notes_;
  DrainTotals totals_;
  std::set<std::string> unreadable_;  // files that are noted already
  std::optional<Stall> stall_;
  bool limitReached_ = false;  // nothing is stored any more, all is counted
  bool finished_ = false;
  std::uint32_t liveImages_ = 0;  // when the images were looked at last
};

Drainer::Impl::Impl(DrainerOptions options, std::optional<SpoolLock> lock)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      room_(options_.part, options_.limitBytes) {
  if (!options_.clock)
    options_.clock = readHostClock;
  if (options_.hostName.empty())
    options_.hostName = currentHostName();
}

// Also when an attempt to store failed: all that was in memory is made anew from what was
// committed.
Result<void> Drainer::Impl::openTrace() {
  images_.reset();
  recorder_.reset();
  const auto page = SessionPage::open(options_.folder);
  SONDE_TRY_ASSIGN(recorder_,
                   TraceRecorder::open(options_.part,
                                       options_.folder.filename(),
                                       options_.hostName,
                                       page ? page->givenBack() : 0));
  if (recorder_->isNew())
    notes_.begunAnew();
  if (!options_.job.empty())
    notes_.setMeta("job", options_.job);
  images_ = std::make_unique<ImageSet>(options_.folder, options_.onlyFile, options_.keepSpool);
  SONDE_TRY(images_->restore(recorder_->writer().database()));
  notes_.rolledBack();
  return {};
}

void Drainer::Impl::stall(const Error& error) {
  const ClockTriple now = options_.clock();
  if (stall_)
    stall_->failedAgain(now);
  else
    stall_.emplace(now, error.message);
}

void Drainer::Impl::reachLimit() {
  limitReached_ = true;
  noteWarning(
      fmt::format("at {} the trace reached --max-size ({:.4g} MiB): what was on its way then is "
                  "lost and counted, what came after is not in it",
                  timeOfDay(options_.clock()),
                  static_cast<double>(options_.limitBytes) / (1 << 20)));
}

bool Drainer::Impl::mayStore() {
  if (finished_ || !stall_)
    return !finished_;
  if (!stall_->mayTry(options_.clock()))
    return false;
  const auto opened = openTrace();
  if (!opened)
    stall(opened.error());
  return static_cast<bool>(opened);
}

void Drainer::Impl::scan(DrainProgress& progress) {
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

std::vector<Drainer::Impl::Ending> Drainer::Impl::findEnding(Pass pass,
                                                             DrainProgress& progress) const {
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

bool Drainer::Impl::findWork(std::vector<Ending>& ending, std::uint64_t& bytes) const {
  // Slots go back when the transaction has committed: the larger it is, the longer a full spool
  // stays full, and the more room it takes at once.
  const std::uint64_t most = std::clamp<std::uint64_t>(
      room_.freeBytes() / 16 / std::max<std::size_t>(images_->open().size(), 1), 64 << 10, 4 << 20);
  bool work = stall_ || notes_.pending();
  for (const auto& image : images_->open()) {
    const std::uint64_t found = image->look(most);
    bytes += found;
    // What is only counted is not given back: it is no work a second time.
    work = work || (limitReached_ ? found > 0 : image->hasWork()) || !image->begun();
  }
  std::erase_if(ending, [](const Ending& end) { return end.image->hasMore(); });
  return work || !ending.empty();
}

Result<void> Drainer::Impl::findRoom(Pass pass, std::uint64_t bytes) {
  if (counts(pass))
    return {};
  if (!room_.withinLimit(bytes))
    SONDE_TRY(recorder_->writer().foldLog());
  if (room_.withinLimit(bytes))
    return room_.check(bytes);
  reachLimit();
  return {};
}

// One transaction. Whether a process has ended is asked before its records are looked for, so that
// what it did last is among them; the clocks are read after that, so that no record is younger than
// the reading.
Result<bool> Drainer::Impl::run(Pass pass, DrainProgress& progress) {
  scan(progress);
  std::vector<Ending> ending = findEnding(pass, progress);
  std::uint64_t bytes = 0;
  const bool work = findWork(ending, bytes);
  if (work || pass != Pass::Store) {
    SONDE_TRY(findRoom(pass, bytes));
    SONDE_TRY(recorder_->writer().begin());
    SONDE_TRY_ASSIGN(const std::uint64_t records, storeAll(pass, ending));
    SONDE_TRY(recorder_->writer().commit());
    notes_.committed();
    stall_.reset();
    progress.records += records;
  }
  progress.bytes += bytes;
  totals_.bytes += bytes;
  // What is closed now makes room for those that wait.
  bool more = images_->waiting() > 0 && !ending.empty();
  for (const auto& image : images_->open()) {
    more = more || image->hasMore();
    // What is only counted is stored as a loss when its image closes: until then it stays.
    if (!counts(pass) || image->finished())
      images_->giveBack(*image);
    if (image->finished())
      totals_.skippedRecords += image->counts().skipped + image->counts().damaged;
  }
  images_->sweep();
  return !more;
}

Result<void> Drainer::Impl::runToTheEnd(Pass pass, DrainProgress& progress) {
  for (bool done = false; !done;) {
    SONDE_TRY_ASSIGN(done, run(pass, progress));
  }
  return {};
}

Result<std::uint64_t> Drainer::Impl::storeAll(Pass pass, const std::vector<Ending>& ending) {
  const ClockTriple now = options_.clock();
  std::uint64_t records = 0;
  SONDE_TRY(beginImages(now));
  for (const auto& image : images_->open()) {
    if (counts(pass))
      image->giveUp(limitReached_ ? kMaxSize : kOutputFull);
    else
      records += image->store(recorder_->sink());
  }
  if (stall_)
    SONDE_TRY(recorder_->addWarning(
        stall_->since().monotonicNs,
        pass == Pass::CountAndClose ? stall_->whenItDidNotEnd() : stall_->whenItEnded(now)));
  SONDE_TRY(notes_.store(*images_, *recorder_));
  for (const Ending& end : ending)
    images_->close(*end.image, end.runs, recorder_->sink());
  // From here on the finaliser is all that is left to do, wherever it is interrupted.
  if (pass != Pass::Store && ending.size() == images_->open().size() && images_->waiting() == 0)
    recorder_->sink().add(model::Meta{"drained", "1"});
  if (recorder_->sink().failed())
    return recorder_->sink().failure();
  return records;
}

Result<void> Drainer::Impl::beginImages(const ClockTriple& now) {
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

DrainProgress Drainer::Impl::drainOnce() {
  // A job that writes faster than this stores must not keep the caller from its other work.
  constexpr int kMostPasses = 64;
  DrainProgress progress;
  progress.liveImages = liveImages_;  // while the trace cannot be opened nobody can look
  bool more = mayStore();
  if (!more && images_ != nullptr)
    findEnding(Pass::Store, progress);
  for (int pass = 0; pass < kMostPasses && more; ++pass) {
    const auto done = run(Pass::Store, progress);
    more = done && !*done;
    if (!done)
      stall(done.error());
  }
  progress.stopped = finished_ || stall_.has_value();
  progress.limitReached = limitReached_;
  if (stall_)
    progress.why = stall_->whileItLasts();
  liveImages_ = progress.liveImages;
  return progress;
}

// When the trace could not grow, it may again by now; else what is left in the spool is counted,
// and the trace ends where it could not go on.
Result<void> Drainer::Impl::closeAll() {
  DrainProgress progress;
  if (stall_)
    SONDE_TRY(openTrace());
  const auto stored = runToTheEnd(Pass::StoreAndClose, progress);
  if (stored)
    return {};
  stall(stored.error());
  room_.giveReserve();
  SONDE_TRY(openTrace());
  return runToTheEnd(Pass::CountAndClose, progress);
}

// All is in it; nothing can be stored from here on.
Result<store::Database> Drainer::Impl::releaseTrace() {
  SONDE_TRY(countRows(recorder_->writer().database(), totals_));
  images_.reset();
  finished_ = true;
  return TraceRecorder::release(std::move(recorder_));
}

Result<DrainTotals> Drainer::Impl::finish(const fs::path& output,
                                          std::function<MetaRows()> lastMeta) {
  const Completion completion{options_.onlyFile.empty() ? options_.folder : options_.onlyFile,
                              options_.part,
                              output,
                              options_.keepSpool,
                              options_.replace,
                              options_.progress.part(0.2, 1),
                              std::move(lastMeta)};
  options_.progress("storing what is left", 0);
  if (const auto closed = closeAll(); !closed)
    return cannotFinish(closed.error(), completion);
  if (const std::uint32_t unread = images_->waiting(); unread > 0)
    return Error{
        ErrorCode::Io,
        fmt::format("{} spool files could not be opened, because too many files are open or memory "
                    "is short: raise the limit (ulimit -Hn), then finish the trace with {}",
                    unread,
                    commandAgain(completion))};
  auto trace = releaseTrace();
  if (!trace)
    return cannotFinish(trace.error(), completion);
  SONDE_TRY(completeTrace(*std::move(trace), completion));
  if (!options_.keepSpool)
    deleteSession(options_.folder);
  return totals_;
}

Result<std::unique_ptr<Drainer>> Drainer::open(DrainerOptions options) {
  std::optional<SpoolLock> lock;
  if (options.lock) {
    SONDE_TRY_ASSIGN(SpoolLock taken, SpoolLock::take(options.folder));
    lock.emplace(std::move(taken));
  }
  return open(std::move(options), std::move(lock));
}

Result<std::unique_ptr<Drainer>> Drainer::open(DrainerOptions options,
                                               std::optional<SpoolLock> lock) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(lock));
  SONDE_TRY(impl->openTrace());
  return std::unique_ptr<Drainer>(new Drainer(std::move(impl)));
}

Drainer::Drainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Drainer::~Drainer() = default;

DrainProgress Drainer::drainOnce() {
  return impl_->drainOnce();
}
void Drainer::noteProcess(ProcessFacts facts) {
  impl_->notes().add(std::move(facts));
}
void Drainer::noteMeta(const std::string& key, const std::string& value) {
  impl_->notes().setMeta(key, value);
}
void Drainer::noteLoss(const std::string& probe,
                       const std::string& kind,
                       const std::string& reason,
                       std::uint64_t count) {
  impl_->notes().addLoss(probe, kind, reason, count);
}
void Drainer::noteWarning(const std::string& text) {
  impl_->noteWarning(text);
}
void Drainer::stopRecording() {
  impl_->stopRecording();
}
Result<DrainTotals> Drainer::finish(const fs::path& output, std::function<MetaRows()> lastMeta) {
  return impl_->finish(output, std::move(lastMeta));
}
const DrainTotals& Drainer::totals() const {
  return impl_->totals();
}

}  // namespace sonde::session
