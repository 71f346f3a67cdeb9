#include "recorder/flight/flight_recorder.h"

#include "analysis/store/trace_name.h"
#include "recorder/drain/capture_note.h"
#include "recorder/spool/host_clock.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

constexpr int kFlightNice = 19;
constexpr std::int64_t kCleanEveryNs = 1'000'000'000;
// A job that keeps killing its helpers must not fill the disk.
constexpr std::uint32_t kMostCrashDumps = 8;

void removeFolder(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace

FlightRecorder::FlightRecorder(FlightOptions options, SessionPage& page, Drainer& notes)
    : options_(std::move(options)),
      page_(page),
      notes_(notes),
      ring_(options_.folder, page, options_.lastNs) {
  page_.words().lastNs.store(options_.lastNs);
  page_.words().completeFromNs.store(readHostClock().monotonicNs);
}

FlightRecorder::~FlightRecorder() {
  finish();
}

void FlightRecorder::finish() {
  if (storing_.joinable())
    storing_.join();
  for (const Wanted& wanted : std::exchange(wanted_, {}))
    wanted.answer(Error{ErrorCode::Unsupported,
                        "the recording has ended: its records are in " + options_.output.string()});
}

DrainProgress FlightRecorder::look(bool isFrozen) {
  const std::int64_t now = readHostClock().monotonicNs;
  FlightRing::Look look = ring_.look(now, isFrozen);
  if (!look.crashed.empty() && !isSettled_)
    crashed_ = look.crashed.front();
  if (crashed_ && now >= nextCrashDumpNs_)
    dumpCrash(now);
  beginNext();
  sayHowShort(look);
  if (now >= nextCleaningNs_ && !isFrozen) {
    nextCleaningNs_ = now + kCleanEveryNs;
    notes_.forgetBefore(now - options_.lastNs,
                        [this](const ImageId& image) { return ring_.holds(image); });
  }
  DrainProgress progress;
  progress.bytes = look.bytes;
  progress.newImages = std::move(look.newImages);
  progress.liveImages = look.liveImages;
  return progress;
}

// Reports it the first time, and again when it has fallen to half.
void FlightRecorder::sayHowShort(const FlightRing::Look& look) {
  const std::int64_t kept = look.roomNs;
  if (kept == 0 || kept >= options_.lastNs || (saidNs_ != 0 && kept > saidNs_ / 2))
    return;
  saidNs_ = kept;
  const double needed = static_cast<double>(page_.limitBytes()) *
                        static_cast<double>(options_.lastNs) / static_cast<double>(kept);
  const bool isPossible = needed / 2 <= static_cast<double>(std::max(look.liveImages, 1U)) *
                                            wire::kMaxSlots * wire::kSlotBytes;
  options_.say(fmt::format(
      "at this rate the spool has room for {1:.2g} s of --last {0:.4g} s: {2}",
      static_cast<double>(options_.lastNs) / 1e9,
      static_cast<double>(kept) / 1e9,
      isPossible ? fmt::format("give --spool-limit {:.0f}MiB", std::ceil(needed / (1 << 20)))
                 : "no --spool-limit is large enough"));
}

// Dumps while the ring still holds the events before the crash. A second crash meanwhile is in the
// same trace, or waits half as long as the ring reaches back.
void FlightRecorder::dumpCrash(std::int64_t nowNs) {
  const std::string why = fmt::format("process {} was ended by a signal", crashed_->pid);
  crashed_.reset();
  nextCrashDumpNs_ = nowNs + options_.lastNs / 2;
  const std::uint32_t before = page_.words().crashDumps.fetch_add(1);
  if (before == kMostCrashDumps)
    notes_.noteWarning(fmt::format("{} crashes were dumped beside this trace; later ones were not",
                                   kMostCrashDumps));
  if (before < kMostCrashDumps)
    dump(why, [](const Result<std::string>&) {});
  else
    ring_.forgetCrashes();
}

fs::path FlightRecorder::nextOutput() const {
  for (int number = 1;; ++number) {
    fs::path name = options_.output;
    name.replace_filename(fmt::format(
        "{}-{}{}", options_.output.stem().string(), number, options_.output.extension().string()));
    std::error_code failure;
    if (!fs::exists(name, failure) && !fs::exists(store::partOf(name), failure))
      return name;
  }
}

Result<std::unique_ptr<Drainer>> FlightRecorder::openDump(const fs::path& output,
                                                          const fs::path& copy,
                                                          const std::string& why) {
  SONDE_TRY(ring_.copyTo(copy));
  DrainerOptions drain;
  drain.folder = copy;
  drain.part = store::partOf(output);
  drain.job = options_.job;
  drain.redactor = options_.redactor;
  drain.keepSpool = true;
  drain.lock = false;
  SONDE_TRY_ASSIGN(auto drainer, Drainer::open(std::move(drain)));
  drainer->takeNotesOf(notes_);
  drainer->notes().setMeta("dumped_because", why);
  noteCapture(*drainer, page_);
  return drainer;
}

void FlightRecorder::dump(const std::string& why, Answer answer) {
  wanted_.push_back({why, std::move(answer)});
}

// One dump at a time, and no thread waits for it: the ring continues.
void FlightRecorder::beginNext() {
  if (wanted_.empty() || isStoring_.load())
    return;
  if (storing_.joinable())
    storing_.join();
  const Wanted wanted = std::move(wanted_.front());
  wanted_.pop_front();
  store(wanted);
}

void FlightRecorder::store(const Wanted& wanted) {
  const fs::path output = nextOutput();
  fs::path copy = output;
  copy += ".spool";
  auto opened = openDump(output, copy, wanted.why);
  if (!opened) {
    removeFolder(copy);
    store::removeTrace(store::partOf(output));
    notes_.noteWarning(fmt::format("no dump was written: {}", opened.error().message));
    wanted.answer(Error{ErrorCode::Io, opened.error().message});
    return;
  }
  notes_.noteEvent(fmt::format("{}: dumped to {}", wanted.why, output.string()));
  isStoring_.store(true);
  storing_ = std::thread([this,
                          drainer = std::shared_ptr<Drainer>(*std::move(opened)),
                          output,
                          copy,
                          answer = wanted.answer] {
    setpriority(PRIO_PROCESS, 0, kFlightNice);  // for this thread only
    const auto totals = drainer->finish(output);
    removeFolder(copy);
    if (!totals)
      store::removeTrace(store::partOf(output));
    answer(totals ? Result<std::string>("wrote " + output.string())
                  : Error{ErrorCode::Io, totals.error().message});
    isStoring_.store(false);
  });
}

}  // namespace sonde::recorder
