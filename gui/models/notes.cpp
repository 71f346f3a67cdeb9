#include "gui/models/notes.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

namespace sonde::gui {
namespace {

constexpr QLatin1String kBegin("begin_ns");  // since the begin of the trace
constexpr QLatin1String kEnd("end_ns");
constexpr QLatin1String kText("text");
constexpr QLatin1String kUnfinished(".part");

}  // namespace

Notes::Notes(TraceDocument& document, ViewState& view) : document_(document), view_(view) {}

QString Notes::file() const {
  if (document_.paths().isEmpty())
    return {};
  QString trace = document_.paths().front();
  if (trace.endsWith(kUnfinished))
    trace.chop(kUnfinished.size());
  return trace + QLatin1String(".notes.json");
}

void Notes::load() {
  QFile file(this->file());
  isLoaded_ = !file.exists();
  if (isLoaded_)
    return;
  if (!file.open(QIODevice::ReadOnly)) {
    emit failed(tr("%1 cannot be read: %2").arg(file.fileName(), file.errorString()));
    return;
  }
  QJsonParseError error;
  const QJsonDocument read = QJsonDocument::fromJson(file.readAll(), &error);
  if (!read.isObject()) {
    emit failed(tr("%1 has no notes of Sonde (%2): move it away to make new ones")
                    .arg(file.fileName(), error.errorString()));
    return;
  }
  isLoaded_ = true;
  const std::int64_t origin = document_.skeleton().originNs;
  const QJsonArray notes = read.object().value(QLatin1String("notes")).toArray();
  for (const auto& each : notes) {
    const QJsonObject note = each.toObject();
    view_.note({origin + note[kBegin].toInteger(), origin + note[kEnd].toInteger()},
               note[kText].toString());
  }
}

void Notes::set(const Span& span, const QString& text) {
  if (!document_.ready() || !isLoaded_) {
    emit failed(tr("The note was not kept: the notes of this trace cannot be read"));
    return;
  }
  view_.note(span, text);
  save();
}

void Notes::save() {
  const std::int64_t origin = document_.skeleton().originNs;
  QJsonArray notes;
  for (const Mark& mark : view_.marks())
    if (!mark.note.isEmpty())
      notes << QJsonObject{{kBegin, qint64{mark.span.beginNs - origin}},
                           {kEnd, qint64{mark.span.endNs - origin}},
                           {kText, mark.note}};
  if (notes.isEmpty()) {
    QFile::remove(file());
    return;
  }
  QSaveFile file(this->file());
  const QByteArray text =
      QJsonDocument(QJsonObject{{QLatin1String("schema"), 1}, {QLatin1String("notes"), notes}})
          .toJson();
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit())
    emit failed(
        tr("The notes could not be saved in %1: %2").arg(file.fileName(), file.errorString()));
}

}  // namespace sonde::gui
