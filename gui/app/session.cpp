#include "gui/app/session.h"

#include "gui/app/main_window.h"

#include <QEvent>
#include <QFileInfo>
#include <QSettings>

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

}  // namespace

Session::Session(MainWindow& window) : QObject(&window), window_(window) {}

void Session::start() {
  const QSettings settings;
  window_.restoreGeometry(settings.value(kGeometry).toByteArray());
  window_.restoreState(settings.value(kState).toByteArray(), kStateVersion);
  connect(&window_.models().document, &TraceDocument::opened, this, [this] {
    remember(window_.models().document.paths());
  });
  window_.installEventFilter(this);
  emit recentChanged();
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
  QStringList full;
  for (const QString& path : paths)
    full << QFileInfo(path).absoluteFilePath();
  QList<QStringList> jobs = recent();
  jobs.removeAll(full);
  jobs.prepend(full);
  QVariantList kept;
  for (const QStringList& each : jobs.mid(0, kMostRecent))
    kept << QVariant(each);
  QSettings().setValue(kRecent, kept);
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
  return settings.childKeys();
}

void Session::saveLayout(const QString& name) {
  QSettings settings;
  settings.beginGroup(kLayouts);
  settings.setValue(name, window_.saveState(kStateVersion));
}

void Session::showLayout(const QString& name) {
  QSettings settings;
  settings.beginGroup(kLayouts);
  window_.restoreState(settings.value(name).toByteArray(), kStateVersion);
}

void Session::removeLayout(const QString& name) {
  QSettings settings;
  settings.beginGroup(kLayouts);
  settings.remove(name);
}

}  // namespace sonde::gui
