#include "gui/models/name_search.h"

#include "gui/trace/trace_reader.h"

#include <limits>

namespace sonde::gui {

NameSearch::NameSearch(TraceDocument& document, Selection& selection)
    : document_(document), selection_(selection) {
  connect(&document_, &TraceDocument::replaced, this, [this] {
    if (!document_.isContinued())
      text_.clear();
  });
}

void NameSearch::find(const QString& text, bool forward, std::int64_t fromNs) {
  if (!document_.ready() || text.isEmpty())
    return;
  text_ = text;
  constexpr EventRef kLast{Table::Transfer, std::numeric_limits<std::int64_t>::max()};
  SearchRequest request{text, fromNs, forward ? EventRef() : kLast, forward};
  if (const auto& details = selection_.details())
    request = {text, details->event.block.startNs, details->event.ref, forward};
  document_.ask(
      TraceDocument::Slot::Search,
      [request](TraceReader& reader, const Cancellation& cancellation) {
        return reader.search(request, cancellation);
      },
      [this](const SearchReply& reply) {
        emit finished(reply);
        if (reply.found)
          selection_.moveTo(reply.found->ref);
      },
      TraceDocument::OnError::Ignore);
  emit textChanged();
}

void NameSearch::outline(const QString& text) {
  text_ = text;
  emit textChanged();
}

void NameSearch::clear() {
  document_.cancel(TraceDocument::Slot::Search);
  text_.clear();
  emit textChanged();
}

}  // namespace sonde::gui
