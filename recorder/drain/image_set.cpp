#include "recorder/drain/image_set.h"

#include "recorder/launcher/descriptor_limit.h"
#include "recorder/spool/session_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

bool closedBefore(const store::Database& trace, const std::string& spool) {
  auto rows = trace.prepare("SELECT 1 FROM ingest_state WHERE spool = ?1 AND kind = 'closed'");
  if (!rows)
    return false;
  rows->bindAll(std::string_view(spool));
  const auto found = rows->step();
  return found && *found;
}

template <typename To, typename From>
void take(To& to, const From& from) {
  if (from)
    to = *from;
}

// Values from the process itself take precedence over its environment.
template <typename To, typename From>
void takeUnlessKnown(To& to, const From& from) {
  if (!to)
    take(to, from);
}

}  // namespace

ImageSet::ImageSet(fs::path folder, fs::path onlyFile, bool keepSpool)
    : folder_(std::move(folder)), onlyFile_(std::move(onlyFile)), keepSpool_(keepSpool) {
  if (keepSpool_)
    return;
  if (auto page = SessionPage::open(folder_))
    page_.emplace(*std::move(page));
}

Result<void> ImageSet::restore(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      store::Statement stored,
      trace.prepare(fmt::format(
          "SELECT {}, epoch.value FROM process JOIN host ON host.id = host_id JOIN ingest_state "
          "epoch ON epoch.spool = host.boot_id AND epoch.kind = 'epoch'",
          ingest::kProcessColumns)));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, stored.step());
    if (!more)
      return {};
    auto row = std::make_unique<Row>();
    ingest::readProcess(stored, row->process);
    const model::Process& process = row->process.row;
    row->pidNamespace = static_cast<std::uint64_t>(process.pidNamespace.value_or(0));
    row->image = {static_cast<std::int32_t>(process.pid),
                  static_cast<std::uint64_t>(process.startTime.value_or(0)),
                  static_cast<std::uint32_t>(process.execCount.value_or(0))};
    row->startMonotonicNs = process.startNs.value_or(0) - stored.integer(stored.columnCount() - 1);
    rows_.push_back(std::move(row));
  }
}

// Returns the stored row, if there is one.
ImageSet::Row& ImageSet::makeRow(const SpoolIdentity& who) {
  const ImageId image{who.pid, who.startTime, who.execCount};
  for (const auto& known : rows_)
    if (known->image == image && known->pidNamespace == who.pidNamespace)
      return *known;
  Row* const row = rows_.emplace_back(std::make_unique<Row>()).get();
  row->pidNamespace = who.pidNamespace;
  row->image = image;
  row->startMonotonicNs = who.startMonotonicNs;
  model::Process& process = row->process.row;
  process.pid = who.pid;
  process.pidNamespace = static_cast<std::int64_t>(who.pidNamespace);
  process.startTime = static_cast<std::int64_t>(who.startTime);
  process.execCount = who.execCount;
  process.state = model::ProcessState::Running;
  return *row;
}

void ImageSet::openFile(const fs::path& path,
                        const store::Database& trace,
                        std::vector<ImageId>& fresh,
                        std::vector<Unreadable>& unreadable) {
  if (seen_.contains(path.filename()))
    return;
  if (launcher::descriptorsAreScarce()) {
    ++waiting_;
    return;
  }
  auto reader = SpoolReader::open(
      path, keepSpool_ ? SpoolReader::Access::ReadOnly : SpoolReader::Access::ReadWrite);
  if (!reader && reader.error().code == ErrorCode::Busy) {
    ++waiting_;
    return;
  }
  seen_.insert(path.filename());
  if (!reader) {
    unreadable.push_back({path.filename(), reader.error().message});
    return;
  }
  Row& row = makeRow(reader->identity());
  auto image = std::make_unique<SpoolImage>(*std::move(reader), row.process);
  if (closedBefore(trace, image->name())) {
    closed_.push_back(std::move(image));
  } else {
    if (!row.process.row.id)
      fresh.push_back(image->id());
    open_.push_back(std::move(image));
  }
}

std::vector<ImageId> ImageSet::scan(const store::Database& trace,
                                    std::vector<Unreadable>& unreadable) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder_, failure))
    if (entry.path().extension() == ".spool" &&
        (onlyFile_.empty() || entry.path().filename() == onlyFile_.filename()))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  waiting_ = launcher::isPassing(failure.value()) ? 1 : 0;  // the actual number is unknown
  std::vector<ImageId> fresh;
  for (const fs::path& file : files)
    openFile(file, trace, fresh, unreadable);
  std::stable_sort(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
    return a->identity().startMonotonicNs < b->identity().startMonotonicNs;
  });
  return fresh;
}

bool ImageSet::replaced(const SpoolImage& image) const noexcept {
  const auto replaces = [&](const auto& other) {
    return other->sameProcess(image) && other->identity().execCount > image.identity().execCount;
  };
  return std::any_of(open_.begin(), open_.end(), replaces) ||
         std::any_of(closed_.begin(), closed_.end(), replaces);
}

bool ImageSet::isOver(const SpoolImage& image) const {
  return replaced(image) || !image.processRuns();
}

model::ProcessId ImageSet::parentOf(const SpoolImage& image) const {
  const SpoolIdentity& who = image.identity();
  const Row* best = nullptr;
  for (const auto& row : rows_) {
    const ImageId& other = row->image;
    const bool before =
        other.pid == who.pid && other.startTime == who.startTime && other.execCount < who.execCount;
    const bool parent =
        who.execCount == 0 && other.pid == who.parentPid && other.startTime <= who.startTime;
    if (row->pidNamespace != who.pidNamespace || !row->process.row.id || !(before || parent))
      continue;
    if (best == nullptr || std::pair(other.startTime, other.execCount) >
                               std::pair(best->image.startTime, best->image.execCount))
      best = row.get();
  }
  return best == nullptr ? model::ProcessId{} : best->process.row.id;
}

const ImageSet::Row* ImageSet::rowOf(model::ProcessId process) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const auto& row) {
    return row->process.row.id && row->process.row.id == process;
  });
  return found == rows_.end() ? nullptr : found->get();
}

void ImageSet::inheritRank(SpoolImage& image) const {
  model::Process& row = image.process().row;
  const Row* const own = rowOf(row.id);
  if (own == nullptr || own->described)
    return;
  for (const Row* parent = rowOf(row.parentId); parent != nullptr && !row.rank;
       parent = rowOf(parent->process.row.parentId)) {
    const model::Process& from = parent->process.row;
    takeUnlessKnown(row.rank, from.rank);
    takeUnlessKnown(row.localRank, from.localRank);
    takeUnlessKnown(row.worldSize, from.worldSize);
  }
}

void ImageSet::close(SpoolImage& image, bool runs, std::int64_t nowNs, ingest::RowSink& sink) {
  model::Process& row = image.process().row;
  if (replaced(image))
    row.state = model::ProcessState::Replaced;
  else if (!runs && row.state == model::ProcessState::Running) {
    row.state =
        image.reader().finished() ? model::ProcessState::Exited : model::ProcessState::Unknown;
    if (const auto status = image.reader().exitStatus())
      row.exitStatus = *status;
  }
  if (Row* const known = rowOf(image.id()); known != nullptr && !runs)
    known->goneMonotonicNs = nowNs;
  inheritRank(image);
  image.finish(page_ && page_->words().discardedSlots.load() > 0,
               runs ? std::optional(nowNs) : std::nullopt);
  sink.setState(image.name(), "closed", 0, 1);
}

ImageSet::Row* ImageSet::rowOf(const ImageId& image) const {
  Row* best = nullptr;
  for (const auto& row : rows_) {
    const ImageId& seen = row->image;
    if (!row->process.row.id || seen.pid != image.pid || seen.startTime != image.startTime)
      continue;
    const bool later = best == nullptr || best->image.execCount < seen.execCount;
    if (seen.execCount == image.execCount || (image.execCount == ImageId::kLast && later))
      best = row.get();
  }
  return best;
}

model::ProcessId ImageSet::processOf(const ImageId& image) const {
  const Row* const found = rowOf(image);
  return found == nullptr ? model::ProcessId() : found->process.row.id;
}

// For a closed image, no other source knows a thread that is not there.
model::ThreadId ImageSet::threadOf(const ImageId& image,
                                   std::int32_t tid,
                                   std::int64_t ns,
                                   ingest::RowSink& sink) {
  for (const auto& open : open_) {
    if (open->id() == image && open->begun())
      return open->threadOfTid(tid, ns);
  }
  model::Thread row;
  row.processId = processOf(image);
  row.tid = tid;
  if (!row.processId)
    return {};
  auto known = sink.writer().database().prepare(
      "SELECT max(id) FROM thread WHERE process_id = ?1 AND tid = ?2");
  if (known) {
    const auto found = known->bindAll(row.processId, row.tid).step();
    if (found && *found && !known->isNull(0))
      return known->id<model::ThreadId>(0);
  }
  return sink.add(row);
}

bool ImageSet::store(const ProcessFacts& facts, ingest::RowSink& sink) {
  Row* const found = rowOf(facts.image);
  if (found == nullptr)
    return false;
  ingest::ProcessRow& process = found->process;
  model::Process& row = process.row;
  takeUnlessKnown(row.rank, facts.rank);
  take(row.localRank, facts.localRank);
  takeUnlessKnown(row.worldSize, facts.worldSize);
  take(row.exitStatus, facts.exitStatus);
  if (facts.command) {
    process.command = *facts.command;
    row.command = process.command;
    found->described = true;
  }
  if (facts.exitStatus)
    row.state = facts.exitSignal ? model::ProcessState::Signalled : model::ProcessState::Exited;
  if (facts.exitSignal)
    row.exitSignal = *facts.exitSignal;
  if (facts.endMonotonicNs && row.startNs) {
    // Its parent may have left it a zombie until long after its end.
    row.endNs = *row.startNs - found->startMonotonicNs +
                std::min(*facts.endMonotonicNs, found->goneMonotonicNs.value_or(INT64_MAX));
  }
  sink.update(row);
  for (const auto& [key, value] : facts.arguments)
    sink.add(model::Arg{model::Owner::Process, row.id.value, sink.intern(key), value});
  return true;
}

void ImageSet::deleteFile(SpoolImage& image) {
  const std::uint64_t bytes = image.reader().allocatedBytes();
  if (page_)
    page_->addGivenBack(image.slots().recordsKept());
  std::error_code failure;
  if (fs::remove(image.reader().path(), failure) && page_)
    page_->freeBytes(bytes);
}

void ImageSet::giveBack(SpoolImage& image) {
  if (page_)
    page_->addGivenBack(image.slots().recordsToRelease());
  image.slots().release();
}

// A process counts its images by the existing files, so all stay until it is dead.
void ImageSet::recordEvery(std::uint32_t every) {
  if (page_)
    page_->recordEvery(every);
}

void ImageSet::recordOthers(bool inFull) {
  if (!page_ || page_->recording() != wire::RecordingState::On)
    return;
  for (const auto& image : open_) {
    const bool isOn = inFull || !image->begun() || image->counts().iterations > 0;
    image->reader().setRecording(isOn ? wire::RecordingState::On : wire::RecordingState::Paused);
  }
}

std::optional<bool> ImageSet::isPaused() const {
  if (!page_ || page_->recording() == wire::RecordingState::Off)
    return std::nullopt;
  return page_->recording() == wire::RecordingState::Paused;
}

void ImageSet::sweep() {
  for (auto& image : open_)
    if (image->finished())
      closed_.push_back(std::move(image));
  std::erase(open_, nullptr);
  if (keepSpool_)
    return;
  std::erase_if(closed_, [&](const auto& image) {
    if (image->processRuns())
      return false;
    deleteFile(*image);
    return true;
  });
}

}  // namespace sonde::recorder
