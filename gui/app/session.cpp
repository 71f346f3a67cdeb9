#include "gui/app/session.h"

#include "gui/app/main_window.h"

#include <QCryptographicHash>
#include <QEvent>
#include <QFileInfo>
#include <QSettings>
#include <QUrl>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr qsizetype kMostRecent = 12;
constexpr int kStateVersion = 1;  // of the docks; another one is ignored

constexpr QLatin1String kRecent("recent");
constexpr QLatin1String kGeometry("window/geometry");
constexpr QLatin1String kState("window/docks");
constexpr QLatin1String kLayouts("layouts");
constexpr QLatin1String kLook("look");
constexpr QLatin1String kArrangements("arrangements");  // of tracks, by job
constexpr QLatin1String kArrangement("arrangement");    // the last one, for other jobs

QString keyOf(const QStringList& paths) {
  return QString::fromLatin1(
      QCryptographicHash::hash(paths.join(u'\n').toUtf8(), QCryptographicHash::Sha1).toHex());
}

// A "/" in a name would begin a group of settings.
QString layoutKey(const QString& name) {
  return QString::fromLatin1(QUrl::toPercentEncoding(name));
}

QStringList fullPaths(const QStringList& paths) {
  QStringList full;
  for (const QString& path : paths)
    full << QFileInfo(path).absoluteFilePath();
  return full;
}

}  // namespace

Session::Session(MainWindow& window) : QObject(&window), window_(window) {}

void Session::start() {
  const QSettings settings;
  window_.restoreGeometry(settings.value(kGeometry).toByteArray());
  window_.restoreState(settings.value(kState).toByteArray(), kStateVersion);
  TraceModels& models = window_.models();
  models.timeline.arrange(arrangementOf(settings.value(kArrangement).toByteArray()));
  connect(&models.document, &TraceDocument::opened, this, [this] {
    remember(window_.models().document.paths());
    showArrangement();
  });
  connect(&models.timeline, &TimelineModel::layoutChanged, this, &Session::keepArrangement);
  window_.installEventFilter(this);
  emit recentChanged();
}

// A file of the same name may be another recording, with another begin.
void Session::showArrangement() {
  TraceModels& models = window_.models();
  QSettings settings;
  settings.beginGroup(kArrangements);
  const QVariantList kept = settings.value(keyOf(fullPaths(models.document.paths()))).toList();
  if (kept.size() == 2 && kept[0].toLongLong() == models.document.skeleton().originNs)
    models.timeline.arrange(arrangementOf(kept[1].toByteArray()));
  models.history.clear();
}

void Session::keepArrangement() {
  const TraceModels& models = window_.models();
  if (!models.document.ready())
    return;
  TrackArrangement arrangement = models.timeline.arrangement();
  QSettings settings;
  settings.setValue(kArrangements + u'/' + keyOf(fullPaths(models.document.paths())),
                    QVariantList{qint64{models.document.skeleton().originNs}, textOf(arrangement)});
  arrangement.forgetTrace();
  settings.setValue(kArrangement, textOf(arrangement));
}

bool Session::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Close) {
    QSettings settings;
    settings.setValue(kGeometry, window_.saveGeometry());
    settings.setValue(kState, window_.saveState(kStateVersion));
  }
  return QObject::eventFilter(watched, event);
}

QList<QStringList> Session::recent() const {
  QList<QStringList> jobs;
  const QVariantList kept = QSettings().value(kRecent).toList();
  for (const QVariant& each : kept) {
    const QStringList paths = each.toStringList();
    if (!paths.isEmpty() && std::all_of(paths.begin(), paths.end(), [](const QString& path) {
          return QFileInfo::exists(path);
        }))
      jobs << paths;
  }
  return jobs;
}

void Session::remember(const QStringList& paths) {
  const QStringList full = fullPaths(paths);
  QList<QStringList> jobs = recent();
  jobs.removeAll(full);
  jobs.prepend(full);
  QVariantList kept;
  QStringList keys;
  for (const QStringList& each : jobs.mid(0, kMostRecent)) {
    kept << QVariant(each);
    keys << keyOf(each);
  }
  QSettings settings;
  settings.setValue(kRecent, kept);
  settings.beginGroup(kArrangements);
  const QStringList arranged = settings.childKeys();
  for (const QString& key : arranged)
    if (!keys.contains(key))
      settings.remove(key);
  emit recentChanged();
}

Look Session::look() const {
  return lookOf(QSettings().value(kLook).toString()).value_or(Look::System);
}

void Session::chooseLook(Look look) {
  QSettings().setValue(kLook, wordOf(look));
  applyLook(look);
}

QStringList Session::layouts() const {
  QSettings settings;
  settings.beginGroup(kLayouts);
  QStringList names;
  for (const QString& key : settings.childKeys())
    names << QUrl::fromPercentEncoding(key.toLatin1());
  return names;
}

void Session::saveLayout(const QString& name) {
  QSettings settings;
  settings.beginGroup(kLayouts);
  settings.setValue(layoutKey(name), window_.saveState(kStateVersion));
}

void Session::showLayout(const QString& name) {
  QSettings settings;
  settings.beginGroup(kLayouts);
  window_.restoreState(settings.value(layoutKey(name)).toByteArray(), kStateVersion);
}

void Session::removeLayout(const QString& name) {
  QSettings settings;
  settings.beginGroup(kLayouts);
  settings.remove(layoutKey(name));
}

}  // namespace sonde::gui
