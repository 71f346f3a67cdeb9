#include "recorder/drain/drainer.h"

#include "recorder/spool/host_clock.h"
#include "recorder/spool/manifest.h"
#include "recorder/spool/session_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <string_view>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

Drainer::Drainer(DrainerOptions options, std::optional<SpoolLock> lock)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      room_(options_.part, options_.limitBytes) {
  if (!options_.clock)
    options_.clock = readHostClock;
  if (options_.hostName.empty())
    options_.hostName = currentHostName();
}

// Also called after a failed attempt to store: rebuilds everything in memory from the committed
// trace.
Result<void> Drainer::openTrace() {
  images_.reset();
  recorder_.reset();
  const auto page = SessionPage::open(options_.folder);
  SONDE_TRY_ASSIGN(recorder_,
                   TraceRecorder::open(options_.part,
                                       options_.folder.filename(),
                                       options_.hostName,
                                       page ? page->givenBack() : 0));
  if (recorder_->isNew()) {
    notes_.begunAnew();
    samples_.begunAnew();
  }
  if (!options_.job.empty())
    notes_.setMeta("job", options_.job);
  images_ = std::make_unique<ImageSet>(options_.folder, options_.onlyFile, options_.keepSpool);
  SONDE_TRY(images_->restore(recorder_->writer().database()));
  notes_.rolledBack();
  samples_.rolledBack();
  storing_.rolledBack();
  return {};
}

void Drainer::stall(const Error& error) {
  const ClockTriple now = options_.clock();
  if (stall_)
    stall_->failedAgain(now);
  else
    stall_.emplace(now, error.message);
}

void Drainer::reachLimit() {
  limitReached_ = true;
  samples_.giveUp();
  note(model::Severity::Warning,
       fmt::format("at {} the trace reached --max-size ({:.4g} MiB): what was on its way then is "
                   "lost and counted, what came after is not in it",
                   timeOfDay(options_.clock()),
                   static_cast<double>(options_.limitBytes) / (1 << 20)));
}

// When half of the limit is used, only every second iteration is recorded in full. From then on,
// each time the rest has shrunk by a factor of the square root of 2, only half as many are. So the
// share in full falls with the square of the rest, and the rest with the inverse of the time: full
// iterations never stop, however long the job is. For captured ranges the same applies to the times
// at which a range is open.
void Drainer::thinOut() {
  constexpr std::uint32_t kMost = 1U << 20;
  if (options_.limitBytes == 0 || limitReached_)
    return;
  const double left = room_.shareLeft();
  const std::uint32_t before = thinned_;
  for (; left < thinAt_ && thinned_ < kMost; thinAt_ *= std::numbers::sqrt2 / 2)
    thinned_ *= 2;
  if (thinned_ == before)
    return;
  const CaptureRule& capture = options_.capture;
  const auto every = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{capture.every} * thinned_, UINT32_MAX));
  images_->recordEvery(every);
  notes_.setMeta("thinned", std::to_string(thinned_));
  note(model::Severity::Warning,
       fmt::format("at {} the trace had {:.0f} % of --max-size left ({:.4g} MiB): from then on {}",
                   timeOfDay(options_.clock()),
                   100 * left,
                   static_cast<double>(options_.limitBytes) / (1 << 20),
                   whatIsThinned(every)));
}

std::string Drainer::whatIsThinned(std::uint32_t every) const {
  if (capturesRange())
    return fmt::format("one of {} ranges \"{}\" is in it in full, of the others nothing",
                       every,
                       options_.capture.range);
  return fmt::format(
      "one of {} iterations is in it in full, of the others when they were, and of processes "
      "without iterations one second of {}",
      every,
      thinned_);
}

// For processes without iterations. Uses the time of day, so that the ranks of a job, each of which
// may have its own trace, record the same seconds.
void Drainer::sliceTime() {
  constexpr std::int64_t kSliceNs = 1'000'000'000;
  if (thinned_ > 1 && !capturesRange())
    images_->recordOthers(options_.clock().realtimeNs / kSliceNs % thinned_ == 0);
}

bool Drainer::mayStore() {
  if (finished_ || !stall_)
    return !finished_;
  if (!stall_->mayTry(options_.clock()))
    return false;
  const auto opened = openTrace();
  if (!opened)
    stall(opened.error());
  return static_cast<bool>(opened);
}

DrainProgress Drainer::drainOnce(bool isHurried) {
  // A job that writes faster than this stores must not keep the caller from its other work.
  constexpr int kMostPasses = 64;
  DrainProgress progress;
  progress.liveImages = liveImages_;  // while the trace cannot be opened, nothing can be counted
  isStoring_ = isStoring_ || isHurried;
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
  if (images_ != nullptr)
    sliceTime();
  return progress;
}

// If the trace could not grow before, tries again. If that fails, counts the rest of the spool as
// lost; the trace ends there.
Result<void> Drainer::closeAll() {
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

// The trace is complete; nothing can be stored from here on.
Result<store::Database> Drainer::releaseTrace() {
  SONDE_TRY(countRows(recorder_->writer().database(), totals_));
  images_.reset();
  finished_ = true;
  return TraceRecorder::release(std::move(recorder_));
}

Result<DrainTotals> Drainer::finish(const fs::path& output, std::function<MetaRows()> lastMeta) {
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
  std::unique_ptr<Drainer> drainer(new Drainer(std::move(options), std::move(lock)));
  SONDE_TRY(drainer->openTrace());
  return drainer;
}

}  // namespace sonde::recorder
