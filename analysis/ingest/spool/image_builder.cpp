#include "analysis/ingest/spool/image_builder.h"

#include "analysis/ingest/rows/record_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace sonde::ingest {

ImageBuilder::ImageBuilder(
    RowSink& sink, TimeBase time, std::string spool, ProcessRow& process, std::uint32_t probeMask)
    : image_{sink, time, std::move(spool), process},
      threads_(image_),
      devices_(sink, time, image_.spool, process, image_.dictionary),
      memory_(sink, time, image_.spool, process, devices_),
      hostMemory_(image_),
      collectives_(sink, image_.spool, image_.dictionary),
      stacks_(sink, time, process, image_.dictionary),
      plugins_(image_),
      calls_(image_, threads_, plugins_),
      iterations_(image_, probeMask),
      scopes_(image_, threads_, plugins_, iterations_),
      channels_(image_, calls_),
      communicators_(image_, calls_, channels_, collectives_),
      deviceCalls_(image_, threads_, devices_, memory_),
      processRows_(image_, calls_, scopes_, iterations_),
      openCalls_(image_, threads_, calls_, channels_, communicators_) {}

void ImageBuilder::begin() {
  model::Process& row = image_.process.row;
  row.id = image_.sink.add(row);
  image_.lastNs = row.startNs.value_or(0);
  image_.sink.setState(image_.spool, "process", 0, row.id.value);
}

void ImageBuilder::openSlot(std::uint32_t index,
                            std::span<const wire::OpenScope> scopes,
                            std::uint64_t claimTicks,
                            std::span<const std::byte> records) {
  ImageThread& thread = threads_.threadOf(index);
  thread.changed = true;
  scopes_.openSlot(thread, scopes, claimTicks, records);
}

// The last row that the record's handler adds on the thread is the open call's.
void ImageBuilder::storeOpen(ImageThread& thread, const std::byte* at, model::OpenCall& row) {
  const auto header = loadRecord<wire::RecordHeader>(at);
  if (header.kind == wire::RecordKind::Transfer)
    return;                                 // nothing was transferred
  thread.remember(model::Owner::Slice, 0);  // so that none is found if the handler adds nothing
  kHandlers[static_cast<std::size_t>(header.kind)](*this, thread, at);
  if (thread.lastId == 0)
    return;
  if (thread.lastOwner == model::Owner::Collective)
    row.collectiveId = {thread.lastId};
  else if (thread.lastOwner == model::Owner::Slice)
    row.sliceId = {thread.lastId};
}

void ImageBuilder::noteOpen(const std::vector<OpenRecord>& calls,
                            std::int64_t seenNs,
                            bool isLast) {
  image_.seenNs = std::max({image_.seenNs, seenNs, image_.lastNs});
  openCalls_.drop();
  std::map<std::uint32_t, std::vector<model::OpenCall>> rows;
  // Innermost first: a call that gets a row becomes the parent of those inside it.
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    ImageThread& thread = threads_.threadOf(call->thread);
    std::optional<model::OpenCall> row = openCalls_.describe(thread, call->bytes.data());
    if (!row)
      continue;
    if (isLast)
      storeOpen(thread, call->bytes.data(), *row);
    rows[call->thread].insert(rows[call->thread].begin(), *row);
  }
  for (const auto& [index, thread] : threads_.recent())
    rows.try_emplace(index);
  for (auto& [index, open] : rows)
    openCalls_.add(threads_.threadOf(index), std::move(open));
}

void ImageBuilder::finish(const LossTable& losses,
                          const PluginLossTable& pluginLosses,
                          const LostRecords& lost) {
  scopes_.finish();
  save();
  collectives_.finish();
  model::Process& row = image_.process.row;
  if (!row.endNs && row.state != model::ProcessState::Running)
    row.endNs = row.state == model::ProcessState::Replaced ? image_.lastNs
                                                           : std::max(image_.lastNs, image_.seenNs);
  image_.sink.update(row);
  addLosses(losses, lost);
  plugins_.addLosses(pluginLosses);
  addUnreadableNote();
}

void ImageBuilder::addLosses(const LossTable& losses, const LostRecords& lost) {
  ingest::addLosses(image_.sink, image_.process.row.id, losses, lost);
  const auto add = [&](std::string_view probe,
                       std::string_view kind,
                       std::uint64_t count,
                       std::string_view reason) {
    if (count > 0)
      image_.sink.add(model::Loss{probe, kind, signedOf(count), reason, image_.process.row.id});
  };
  const ImageCounts& counts = image_.counts;
  add("process", "exec", processRows_.notFollowed(), "not followed");
  add("process", "unknown", counts.skipped + counts.damaged, "damaged");
  add("process", "unknown", lost.letGo ? 0 : counts.unbalanced, "unbalanced");
  add("annotation", "iteration info", lost.letGo ? 0 : counts.strayInfos, "no iteration");
  add(probeWord(wire::Probe::Nccl),
      recordWord(wire::RecordKind::CollectivePart),
      collectives_.lostParts(),
      "no collective");
}

void ImageBuilder::addUnreadableNote() {
  const std::uint64_t unreadable = image_.counts.skipped + image_.counts.damaged;
  if (unreadable == 0)
    return;
  const std::string text =
      fmt::format("{} records of {} could not be read", unreadable, image_.spool);
  model::Note note;
  note.tsNs = image_.lastNs;
  note.processId = image_.process.row.id;
  note.severity = model::Severity::Warning;
  note.source = "recorder";
  note.text = text;
  image_.sink.add(note);
}

}  // namespace sonde::ingest
