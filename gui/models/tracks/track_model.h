// Processes with their threads and channels as a tree, for finding a track by name.
//
// There are no node objects: a track's internal id is its process's number plus one; a process's is
// zero. Copies the skeleton, so the model may outlive its trace. Main thread.
#pragma once

#include "gui/trace/trace_data.h"

#include <QAbstractItemModel>

#include <vector>

namespace sonde::gui {

class TrackModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { Name, Detail, Events, ColumnCount };
  static constexpr int kTrackRole =
      Qt::UserRole;  // index in Skeleton::tracks; for a process its first track, -1: none

  using QAbstractItemModel::QAbstractItemModel;

  void show(const Skeleton& skeleton);

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section,
                                    Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] QVariant processData(int process, int column, int role) const;
  [[nodiscard]] QVariant trackData(std::size_t track, int column, int role) const;

  std::vector<ProcessInfo> processes_;
  std::vector<TrackInfo> tracks_;
  std::vector<std::size_t> firstTrack_;  // by process, and one past the last
};

}  // namespace sonde::gui
