#include "recorder/drain/spool_image.h"

#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/stacks/still_threads.h"
#include "recorder/spool/image_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace sonde::recorder {
SpoolImage::SpoolImage(SpoolReader reader, ingest::ProcessRow& process)
    : reader_(std::move(reader)),
      slots_(reader_),
      name_(reader_.path().filename()),
      process_(process) {}

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
  return slots_.restore(sink.writer().database(), name_);
}

void SpoolImage::offerClocks(ingest::ClockFit& fit) {
  if (slots_.isNew())
    fit.offer({identity().startTicks, identity().startMonotonicNs});
  for (const SpoolSlot& slot : slots_.work()) {
    ingest::walkRecords(reader_.readRecords(slot, slots_.storedBytes(slot)),
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
  for (const SpoolSlot& slot : slots_.work()) {
    const std::uint32_t stored = slots_.storedBytes(slot);
    const std::uint64_t counted = builder_->counts().records;
    if (slot.committed <= stored)
      continue;
    if (slot.damaged) {
      builder_->noteDamage();
    } else if (!slot.isBlank()) {
      const auto records = reader_.readRecords(slot, stored);
      if (records.empty())
        builder_->noteDamage();
      storeRecords(slot, stored == 0, records);
    }
    slots_.noteStored(slot, builder_->counts().records - counted);
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
  const bool hasSamples =
      std::any_of(slots_.work().begin(), slots_.work().end(), [](const SpoolSlot& slot) {
        return (slot.thread & wire::SlotHeader::kSamples) != 0;
      });
  if (!hasSamples || !processRuns())
    return;
  std::ifstream maps(fmt::format("/proc/{}/maps", identity().pid));
  std::ostringstream lines;
  lines << maps.rdbuf();  // does not throw when the process ends meanwhile, as iterators do
  builder_->addCode(lines.str());
}

void SpoolImage::storeStill(std::int64_t nowMonotonicNs) {
  if (processRuns())
    builder_->addStill(ingest::readStillThreads(identity().pid), jobTime(nowMonotonicNs));
}

void SpoolImage::giveUp(std::string_view reason) {
  lost_.reason = reason;
  for (const SpoolSlot& slot : slots_.work()) {
    lost_.add(reader_.readRecords(slot, slots_.storedBytes(slot)));
    slots_.noteLost(slot);
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

}  // namespace sonde::recorder
