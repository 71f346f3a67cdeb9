#include "gui/models/details_model.h"

#include <QFont>

#include <utility>

namespace sonde::gui {

void DetailsModel::show(std::vector<DetailsSection> sections) {
  beginResetModel();
  sections_ = std::move(sections);
  endResetModel();
}

QModelIndex DetailsModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent))
    return {};
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : 0);
}

QModelIndex DetailsModel::parent(const QModelIndex& child) const {
  if (!child.isValid() || child.internalId() == 0)
    return {};
  return createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int DetailsModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid())
    return static_cast<int>(sections_.size());
  if (parent.internalId() != 0 || parent.column() != 0)
    return 0;
  return static_cast<int>(sections_.at(static_cast<std::size_t>(parent.row())).rows.size());
}

int DetailsModel::columnCount(const QModelIndex& /*parent*/) const {
  return 2;
}

QVariant DetailsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid())
    return {};
  const auto row = static_cast<std::size_t>(index.row());
  if (index.internalId() == 0) {
    if (role == Qt::FontRole) {
      QFont bold;
      bold.setBold(true);
      return bold;
    }
    return role == Qt::DisplayRole && index.column() == 0 ? sections_.at(row).title : QVariant();
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
    return {};
  const auto& [name, value] =
      sections_.at(static_cast<std::size_t>(index.internalId()) - 1).rows.at(row);
  return index.column() == 0 ? name : value;
}

QVariant DetailsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
    return {};
  return section == 0 ? tr("Name") : tr("Value");
}

}  // namespace sonde::gui
