#include "gui/models/trace_data.h"

#include "analysis/model/words.h"

#include <algorithm>

namespace sonde::gui {

static_assert(static_cast<int>(Kind::Phase) == static_cast<int>(model::SliceKind::Phase));
static_assert(static_cast<int>(Kind::Mark) == static_cast<int>(model::SliceKind::Mark));

Kind kindOf(std::string_view word) {
  if (const auto kind = model::sliceKindOf(word))
    return static_cast<Kind>(*kind);
  if (word == model::word(model::Direction::Send))
    return Kind::Send;
  return word == model::word(model::Direction::Receive) ? Kind::Receive : Kind::Range;
}

QString wordOf(Kind kind) {
  if (kind == Kind::Send || kind == Kind::Receive)
    return kind == Kind::Send ? QStringLiteral("send") : QStringLiteral("receive");
  const std::string_view word = model::word(static_cast<model::SliceKind>(kind));
  return QString::fromUtf8(word.data(), static_cast<qsizetype>(word.size())).replace('_', ' ');
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
  const double last = at(block.durNs == Block::kOpen ? traceEndNs : block.startNs + block.durNs);
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
