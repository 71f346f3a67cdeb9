#include "recorder/drain/drainer.h"

#include "recorder/spool/host_clock.h"
#include "recorder/spool/manifest.h"
#include "recorder/spool/session_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

Drainer::Drainer(DrainerOptions options, std::optional<SpoolLock> lock)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      room_(options_.part, options_.limitBytes),
      delay_(options_.waitBytes, options_.longestWaitNs),
      thinning_(options_.capture, options_.limitBytes) {
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
  noteWarning(
      fmt::format("at {} the trace reached --max-size ({:.4g} MiB): records in the spool were "
                  "lost and counted, later ones are not in the trace",
                  timeOfDay(options_.clock()),
                  static_cast<double>(options_.limitBytes) / (1 << 20)));
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
  if (isHurried)
    delay_.end();
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
  if (images_ != nullptr && thinning_.isActive())
    thinning_.sliceTime(options_.clock().realtimeNs, *images_);
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
  options_.progress("storing the remaining records", 0);
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
