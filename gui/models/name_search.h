// The search for events by a part of their name. Selects the hits; views outline names that contain
// the text.
//
// Part of TraceModels. Main thread.
#pragma once

#include "gui/models/selection.h"
#include "gui/models/trace_document.h"

#include <QObject>
#include <QString>

namespace sonde::gui {

class NameSearch : public QObject {
  Q_OBJECT

 public:
  // Requires: both outlive it.
  NameSearch(TraceDocument& document, Selection& selection);

  // Selects the next hit after the selected event, or after `fromNs` without one; answers with
  // `finished`.
  void find(const QString& text, bool forward, std::int64_t fromNs);
  // Has views outline the names that contain the text, without looking for a hit.
  void outline(const QString& text);
  void clear();
  [[nodiscard]] const QString& text() const { return text_; }

 signals:
  void textChanged();
  void finished(const sonde::gui::SearchReply& reply);

 private:
  TraceDocument& document_;
  Selection& selection_;
  QString text_;
};

}  // namespace sonde::gui
