#include "gui/trace/trace_data.h"

#include "analysis/model/words.h"
#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sonde::gui {

static_assert(static_cast<int>(Kind::Phase) == static_cast<int>(model::SliceKind::Phase));
static_assert(static_cast<int>(Kind::Mark) == static_cast<int>(model::SliceKind::Mark));

static_assert(static_cast<int>(Kind::EventWait) - static_cast<int>(Kind::StreamSync) ==
              static_cast<int>(model::SyncKind::Wait) - static_cast<int>(model::SyncKind::Stream));

Kind kindOf(std::string_view word) {
  if (const auto kind = model::sliceKindOf(word))
    return static_cast<Kind>(*kind);
  if (word == model::word(model::Direction::Send))
    return Kind::Send;
  if (word == model::word(model::Direction::Receive))
    return Kind::Receive;
  if (word == model::word(model::Owner::Kernel))
    return Kind::Kernel;
  return word == model::word(model::CopyKind::Set) ? Kind::Set : Kind::Copy;
}

std::optional<Kind> kindOf(std::optional<model::SliceKind> kind) {
  return kind ? std::optional(static_cast<Kind>(*kind)) : std::nullopt;
}

Kind kindOfSync(std::string_view word) {
  const auto kind = model::syncKindOf(word).value_or(model::SyncKind::Stream);
  return static_cast<Kind>(static_cast<int>(Kind::StreamSync) + static_cast<int>(kind) -
                           static_cast<int>(model::SyncKind::Stream));
}

QString wordOf(Kind kind) {
  if (kind > Kind::Mark) {
    static const char* const kWords[] = {"send",
                                         "receive",
                                         "kernel",
                                         "collective kernel",
                                         "copy",
                                         "memory set",
                                         "stream sync",
                                         "context sync",
                                         "event sync",
                                         "event record",
                                         "stream wait event"};
    return QString::fromLatin1(kWords[static_cast<int>(kind) - static_cast<int>(Kind::Send)]);
  }
  return spaced(model::word(static_cast<model::SliceKind>(kind)));
}

Owner ownerOf(Table table) {
  if (table == Table::Slice)
    return Owner::Thread;
  return table == Table::Transfer ? Owner::Channel : Owner::Stream;
}

EventRef refOf(const Block& block) {
  if (block.kind < Kind::Send)
    return {Table::Slice, block.id};
  if (block.kind < Kind::Kernel)
    return {Table::Transfer, block.id};
  if (block.kind < Kind::Copy)
    return {Table::Kernel, block.id};
  return {block.kind < Kind::StreamSync ? Table::Copy : Table::Sync, block.id};
}

namespace {

template <typename Timed>
std::int64_t drawnEnd(const Timed& timed, std::int64_t traceEndNs) {
  if (timed.durNs != Block::kOpen)
    return timed.startNs + timed.durNs;
  return timed.atMostNs > 0 ? timed.startNs + timed.atMostNs : traceEndNs;
}

}  // namespace

std::int64_t endOf(const Block& block, std::int64_t traceEndNs) {
  return drawnEnd(block, traceEndNs);
}

std::int64_t endOf(const IterationInfo& iteration, std::int64_t traceEndNs) {
  return drawnEnd(iteration, traceEndNs);
}

QString lengthOf(const Block& block) {
  if (block.durNs != Block::kOpen)
    return formatDuration(block.durNs);
  return block.atMostNs > 0 ? QCoreApplication::translate("Block", "at most %1: its end was lost")
                                  .arg(formatDuration(block.atMostNs))
                            : QCoreApplication::translate("Block", "did not end");
}

QString nameOf(const Block& block, const QHash<std::uint32_t, QString>& names) {
  return block.nameId == 0 ? wordOf(block.kind) : names.value(block.nameId);
}

const CurvePoint* pointAt(const Curve& curve, std::int64_t ns) {
  const auto after = std::upper_bound(
      curve.points.begin(), curve.points.end(), ns, [](std::int64_t at, const CurvePoint& point) {
        return at < point.startNs;
      });
  if (after == curve.points.begin() || ns > curve.endNs)
    return nullptr;
  const CurvePoint& point = *std::prev(after);
  return std::isnan(point.min) ? nullptr : &point;
}

void OverviewRow::add(const Block& block,
                      std::int64_t beginNs,
                      std::int64_t spanNs,
                      std::int64_t traceEndNs) {
  const auto count = static_cast<double>(bins.size());
  const auto at = [&](std::int64_t ns) {
    return std::clamp(
        static_cast<double>(ns - beginNs) / static_cast<double>(spanNs) * count, 0.0, count);
  };
  const double first = at(block.startNs);
  const double last = at(endOf(block, traceEndNs));
  const double density = block.count > 1 && block.durNs > 0
                             ? static_cast<double>(block.busyNs) / static_cast<double>(block.durNs)
                             : 1.0;
  for (auto bin = static_cast<std::size_t>(first);
       bin < bins.size() && static_cast<double>(bin) < last;
       ++bin) {
    const double inside =
        std::min(last, static_cast<double>(bin + 1)) - std::max(first, static_cast<double>(bin));
    const auto part = static_cast<float>(inside * density);
    bins[bin].busy += part;
    if (block.kind != Kind::Iteration && part > bins[bin].most) {
      bins[bin].most = part;
      bins[bin].kind = block.kind;
      bins[bin].nameId = block.nameId;
    }
  }
}

}  // namespace sonde::gui
