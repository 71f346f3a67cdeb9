#include "gui/models/tracks/track_model.h"

#include "gui/trace/process_text.h"

namespace sonde::gui {

void TrackModel::show(const Skeleton& skeleton) {
  beginResetModel();
  processes_ = skeleton.processes;
  tracks_ = skeleton.tracks;
  firstTrack_.clear();
  std::size_t track = 0;
  for (int process = 0; process <= static_cast<int>(processes_.size()); ++process) {
    while (track < tracks_.size() && tracks_[track].process < process)
      ++track;
    firstTrack_.push_back(track);
  }
  endResetModel();
}

QModelIndex TrackModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent))
    return {};
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : 0);
}

QModelIndex TrackModel::parent(const QModelIndex& child) const {
  if (!child.isValid() || child.internalId() == 0)
    return {};
  return createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int TrackModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid())
    return static_cast<int>(processes_.size());
  if (parent.internalId() != 0 || parent.column() != 0)
    return 0;
  const auto process = static_cast<std::size_t>(parent.row());
  return static_cast<int>(firstTrack_.at(process + 1) - firstTrack_.at(process));
}

int TrackModel::columnCount(const QModelIndex& /*parent*/) const {
  return ColumnCount;
}

QVariant TrackModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid())
    return {};
  if (index.internalId() == 0)
    return processData(index.row(), index.column(), role);
  const auto process = static_cast<std::size_t>(index.internalId()) - 1;
  return trackData(
      firstTrack_.at(process) + static_cast<std::size_t>(index.row()), index.column(), role);
}

QVariant TrackModel::processData(int process, int column, int role) const {
  const auto at = static_cast<std::size_t>(process);
  const std::size_t first = firstTrack_.at(at);
  if (role == kTrackRole)
    return first < firstTrack_.at(at + 1) ? static_cast<int>(first) : -1;
  if (role != Qt::DisplayRole)
    return {};
  const ProcessInfo& info = processes_.at(at);
  if (column == Name)
    return titleOf(info);
  return column == Detail ? QVariant(info.host) : QVariant();
}

QVariant TrackModel::trackData(std::size_t track, int column, int role) const {
  if (role == kTrackRole)
    return static_cast<int>(track);
  if (role == Qt::TextAlignmentRole && column == Events)
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole)
    return {};
  const TrackInfo& info = tracks_.at(track);
  switch (column) {
    case Name:
      return info.name;
    case Detail:
      return info.detail;
    default:
      return QVariant::fromValue<qlonglong>(info.count);
  }
}

QVariant TrackModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
    return {};
  switch (section) {
    case Name:
      return tr("Track");
    case Detail:
      return tr("Where");
    default:
      return tr("Events");
  }
}

}  // namespace sonde::gui
