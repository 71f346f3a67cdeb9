// A small window to find a process, thread or channel by a part of its name. Main thread.
#pragma once

#include "gui/models/tracks/track_model.h"

#include <QDialog>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTreeView>

namespace sonde::gui {

class TrackFinder : public QDialog {
  Q_OBJECT

 public:
  TrackFinder(const Skeleton& skeleton, QWidget* parent);

 signals:
  void chosen(int track);

 private:
  void filter(const QString& text);
  void choose();

  TrackModel* model_;
  QSortFilterProxyModel* matching_;
  QLineEdit* edit_;
  QTreeView* tree_;
};

}  // namespace sonde::gui
