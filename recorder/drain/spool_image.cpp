#include "recorder/drain/spool_image.h"

#include "analysis/ingest/rows/record_walk.h"
#include "recorder/spool/image_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace sonde::recorder {
namespace {

bool isBlank(const SpoolSlot& slot) {
  return !slot.damaged && slot.committed == slot.firstRecord;
}

}  // namespace

SpoolImage::SpoolImage(SpoolReader reader, ingest::ProcessRow& process)
    : reader_(std::move(reader)), name_(reader_.path().filename()), process_(process) {}

ImageId SpoolImage::id() const noexcept {
  return {identity().pid, identity().startTime, identity().execCount};
}

bool SpoolImage::sameProcess(const SpoolImage& other) const noexcept {
  return isSameProcess(identity(), other.identity());
}

void SpoolImage::setCommand(std::string redacted) {
  process_.command = std::move(redacted);
  process_.row.command = process_.command;
}

bool SpoolImage::processRuns() const {
  return recorder::processRuns(identity());
}

Result<void> SpoolImage::begin(ingest::RowSink& sink, ingest::TimeBase time) {
  if (!process_.row.startNs)
    process_.row.startNs = time.toNs(identity().startTicks);
  builder_ =
      std::make_unique<ingest::ImageBuilder>(sink, time, name_, process_, reader_.probeMask());
  SONDE_TRY_ASSIGN(const bool resumed, builder_->restore());
  if (!resumed)
    builder_->begin();
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      sink.writer().database().prepare("SELECT seq, consumed FROM ingested WHERE spool = ?1"));
  rows.bindAll(std::string_view(name_));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      break;
    // The number of records that an earlier recorder found in it is unknown; at least one.
    consumed_[static_cast<std::uint64_t>(rows.integer(0))] = {
        static_cast<std::uint32_t>(rows.integer(1)), 1};
  }
  if (consumed_.empty())
    return {};
  // The other slots were given back, and counted then.
  for (const SpoolSlot& slot : reader_.snapshot())
    recordsKept_ += consumed_.count(slot.seq);
  return {};
}

std::uint32_t SpoolImage::consumedOf(const SpoolSlot& slot) const noexcept {
  const auto found = consumed_.find(slot.seq);
  return found == consumed_.end() ? 0 : found->second.bytes;
}

std::uint64_t SpoolImage::look(std::uint64_t most) {
  std::uint64_t bytes = 0;
  work_.clear();
  more_ = false;
  for (const SpoolSlot& slot : reader_.snapshot()) {
    more_ = bytes >= most;
    if (more_)
      break;
    const std::uint32_t consumed = consumedOf(slot);
    // Not before its first record, which may be the end of a scope that the prefix does not list.
    if (isBlank(slot) && !slot.full)
      continue;
    if (slot.committed > consumed)
      bytes += slot.committed - consumed;
    else if (!slot.full)
      continue;
    work_.push_back(slot);
  }
  return bytes;
}

// A full slot counts as a whole one, even if it contains little: a thread that ends leaves one.
SpoolImage::Waiting SpoolImage::waiting() {
  Waiting waiting{0, false};
  bool isAnyFull = false;
  for (const SpoolSlot& slot : reader_.snapshot()) {
    isAnyFull = isAnyFull || slot.full;
    const std::uint32_t consumed = consumedOf(slot);
    if (slot.full)
      waiting.bytes += wire::kSlotBytes;
    else if (slot.committed > consumed && !isBlank(slot))
      waiting.bytes += slot.committed - consumed;
  }
  waiting.isCramped = isAnyFull && reader_.freeSlots() == 0;
  return waiting;
}

void SpoolImage::offerClocks(ingest::ClockFit& fit) {
  if (consumed_.empty())
    fit.offer({identity().startTicks, identity().startMonotonicNs});
  for (const SpoolSlot& slot : work_) {
    ingest::walkRecords(reader_.readRecords(slot, consumedOf(slot)),
                        [&](const wire::RecordHeader& header, const std::byte* at) {
                          if (header.kind != wire::RecordKind::ClockSync)
                            return;
                          const auto sync = ingest::loadRecord<wire::ClockSync>(at);
                          fit.offer({sync.ticks, sync.monotonicNs});
                        });
  }
}

std::vector<ingest::ImageBuilder::OpenRecord> SpoolImage::openRecords() const {
  std::vector<ingest::ImageBuilder::OpenRecord> calls;
  for (const SpoolReader::OpenCalls& thread : reader_.openCalls())
    for (const std::vector<std::byte>& record : thread.records)
      ingest::walkRecords(record, [&](const wire::RecordHeader&, const std::byte*) {
        calls.push_back({thread.thread, record});
      });
  return calls;
}

std::int64_t SpoolImage::jobTime(std::int64_t monotonicNs) const {
  return *process_.row.startNs + (monotonicNs - identity().startMonotonicNs);
}

std::uint64_t SpoolImage::store(ingest::RowSink& sink, std::int64_t nowMonotonicNs) {
  const std::uint64_t before = builder_->counts().records;
  reader_.newDefinitions(
      [&](std::span<const std::byte> definition) { builder_->define(definition); });
  builder_->definitionsDone();
  lookAtCode();
  for (const SpoolSlot& slot : work_) {
    const std::uint32_t consumed = consumedOf(slot);
    const std::uint64_t counted = builder_->counts().records;
    if (slot.committed <= consumed)
      continue;
    if (slot.damaged) {
      builder_->noteDamage();
    } else if (!isBlank(slot)) {
      const auto records = reader_.readRecords(slot, consumed);
      if (records.empty())
        builder_->noteDamage();
      storeRecords(slot, consumed == 0, records);
    }
    SlotProgress& progress = consumed_[slot.seq];
    progress.bytes = slot.committed;
    progress.records += static_cast<std::uint32_t>(builder_->counts().records - counted);
    recordsKept_ += builder_->counts().records - counted;
    sink.add(model::Ingested{name_, static_cast<std::int64_t>(slot.seq), slot.committed});
  }
  if (processRuns())
    builder_->noteOpen(openRecords(), jobTime(nowMonotonicNs), false);
  builder_->save();
  return builder_->counts().records - before;
}

void SpoolImage::storeRecords(const SpoolSlot& slot,
                              bool isNew,
                              std::span<const std::byte> records) {
  constexpr std::uint32_t kSamples = wire::SlotHeader::kSamples;
  if ((slot.thread & kSamples) != 0) {
    builder_->addSamples(slot.thread & ~kSamples, records);
    return;
  }
  if (isNew)
    builder_->openSlot(slot.thread, reader_.readScopes(slot), slot.claimTicks, records);
  builder_->addRecords(slot.thread, records);
}

// Reads the code that a living process has mapped now. A process that has ended has recorded it
// itself, if it could.
void SpoolImage::lookAtCode() {
  const bool hasSamples = std::any_of(work_.begin(), work_.end(), [](const SpoolSlot& slot) {
    return (slot.thread & wire::SlotHeader::kSamples) != 0;
  });
  if (!hasSamples || !processRuns())
    return;
  std::ifstream maps(fmt::format("/proc/{}/maps", identity().pid));
  std::ostringstream lines;
  lines << maps.rdbuf();  // does not throw when the process ends meanwhile, as iterators do
  builder_->addCode(lines.str());
}

void SpoolImage::giveUp(std::string_view reason) {
  lost_.reason = reason;
  for (const SpoolSlot& slot : work_) {
    lost_.add(reader_.readRecords(slot, consumedOf(slot)));
    consumed_[slot.seq].bytes = slot.committed;
  }
}

void SpoolImage::finish(bool letGo, std::optional<std::int64_t> runsUntil) {
  lost_.letGo = letGo;
  const std::int64_t seenNs =
      runsUntil ? jobTime(*runsUntil) : process_.row.endNs.value_or(builder_->lastNs());
  builder_->noteOpen(openRecords(), seenNs, true);
  for (std::uint32_t left = reader_.damagedDefinitions(); left > 0; --left)
    builder_->noteDamage();
  builder_->finish(reader_.losses(), reader_.pluginLosses(), lost_);
  reader_.closeFile();
  finished_ = true;
}

bool SpoolImage::goesBack(const SpoolSlot& slot) const noexcept {
  return slot.full && consumedOf(slot) >= slot.committed;
}

std::uint64_t SpoolImage::recordsStored() const {
  std::uint64_t records = 0;
  for (const SpoolSlot& slot : work_)
    if (const auto found = consumed_.find(slot.seq); found != consumed_.end() && goesBack(slot))
      records += found->second.records;
  return records;
}

void SpoolImage::releaseStored() {
  recordsKept_ -= recordsStored();
  for (const SpoolSlot& slot : work_)
    if (goesBack(slot))
      reader_.release(slot);
  work_.clear();
}

}  // namespace sonde::recorder
