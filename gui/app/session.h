// Remembers, between runs of the window: its size, its docks, layouts that the user saved, and the
// last jobs with the arrangements of their tracks. Uses QSettings. Main thread; a part of the
// window.
#pragma once

#include "gui/app/look.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>

namespace sonde::gui {

class MainWindow;

class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(MainWindow& window);

  // Shows the window as it was when it was last closed, and keeps all changes from now on. Without
  // it nothing is kept.
  void start();

  // The last jobs that were opened, the latest first, without those whose files are gone.
  [[nodiscard]] QList<QStringList> recent() const;
  void remember(const QStringList& paths);

  // The colours that the user chose last.
  [[nodiscard]] Look look() const;
  void chooseLook(Look look);

  // By name.
  [[nodiscard]] QStringList layouts() const;
  void saveLayout(const QString& name);
  void showLayout(const QString& name);
  void removeLayout(const QString& name);

 signals:
  void recentChanged();

 protected:
  // Keeps the state when the window is closed.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showArrangement();
  void keepArrangement();

  MainWindow& window_;
};

}  // namespace sonde::gui
