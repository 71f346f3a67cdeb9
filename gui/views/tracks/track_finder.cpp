#include "gui/views/tracks/track_finder.h"

#include <QHeaderView>
#include <QVBoxLayout>

namespace sonde::gui {

TrackFinder::TrackFinder(const Skeleton& skeleton, QWidget* parent)
    : QDialog(parent),
      model_(new TrackModel(this)),
      matching_(new QSortFilterProxyModel(this)),
      edit_(new QLineEdit),
      tree_(new QTreeView) {
  setWindowTitle(tr("Find a track"));
  resize(640, 420);
  model_->show(skeleton);
  matching_->setSourceModel(model_);
  matching_->setRecursiveFilteringEnabled(true);
  matching_->setAutoAcceptChildRows(true);
  matching_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  matching_->setFilterKeyColumn(-1);
  tree_->setModel(matching_);
  tree_->setUniformRowHeights(true);
  tree_->header()->setSectionResizeMode(TrackModel::Name, QHeaderView::Stretch);
  edit_->setPlaceholderText(tr("part of a name, a rank or a thread id"));
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(edit_);
  layout->addWidget(tree_);
  connect(edit_, &QLineEdit::textChanged, this, &TrackFinder::filter);
  connect(edit_, &QLineEdit::returnPressed, this, &TrackFinder::choose);
  connect(tree_, &QTreeView::activated, this, &TrackFinder::choose);
  filter({});
}

void TrackFinder::filter(const QString& text) {
  matching_->setFilterFixedString(text);
  if (!text.isEmpty() || matching_->rowCount() <= 16)
    tree_->expandAll();
  tree_->setCurrentIndex(matching_->index(0, 0));
}

void TrackFinder::choose() {
  const QModelIndex index = tree_->currentIndex();
  const int track = index.isValid() ? index.data(TrackModel::kTrackRole).toInt() : -1;
  if (track >= 0)
    emit chosen(track);
  accept();
}

}  // namespace sonde::gui
