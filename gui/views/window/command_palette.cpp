#include "gui/views/window/command_palette.h"

#include <QAction>
#include <QCoreApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>

namespace sonde::gui {
namespace {

// Matches texts that have all words in this order: "sav pic" finds "Save a picture".
QRegularExpression patternOf(const QString& text) {
  QStringList words;
  for (const QString& word : text.split(u' ', Qt::SkipEmptyParts))
    words << QRegularExpression::escape(word);
  return QRegularExpression(words.join(QStringLiteral(".*")),
                            QRegularExpression::CaseInsensitiveOption);
}

}  // namespace

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Commands"));
  resize(560, 420);
  model_ = new QStandardItemModel(0, 2, this);
  for (QAction* action : actions)
    if (action->isEnabled())
      addAction(*action);
  matching_ = new QSortFilterProxyModel(this);
  matching_->setSourceModel(model_);
  text_ = new QLineEdit;
  text_->setPlaceholderText(tr("words of a command"));
  text_->setAccessibleName(tr("Words of a command"));
  text_->installEventFilter(this);
  list_ = new QTreeView;
  list_->setModel(matching_);
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setHeaderHidden(true);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  list_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  list_->setCurrentIndex(matching_->index(0, 0));
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(text_);
  layout->addWidget(list_);
  connect(text_, &QLineEdit::textChanged, this, [this](const QString& text) {
    matching_->setFilterRegularExpression(patternOf(text));
    list_->setCurrentIndex(matching_->index(0, 0));
  });
  connect(text_, &QLineEdit::returnPressed, this, &CommandPalette::choose);
  connect(list_, &QTreeView::activated, this, &CommandPalette::choose);
}

void CommandPalette::addAction(QAction& action) {
  auto* text = new QStandardItem(action.text().remove(u'&').remove(u'…'));
  text->setData(QVariant::fromValue(static_cast<QObject*>(&action)));
  text->setToolTip(action.statusTip());
  auto* key = new QStandardItem(action.shortcut().toString(QKeySequence::NativeText));
  for (QStandardItem* item : {text, key})
    item->setEditable(false);
  model_->appendRow({text, key});
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress)
    return QDialog::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key != Qt::Key_Up && key != Qt::Key_Down && key != Qt::Key_PageUp && key != Qt::Key_PageDown)
    return QDialog::eventFilter(watched, event);
  QCoreApplication::sendEvent(list_, event);
  return true;
}

void CommandPalette::choose() {
  const QModelIndex index = list_->currentIndex().siblingAtColumn(0);
  if (!index.isValid())
    return;
  chosen_ = qobject_cast<QAction*>(index.data(Qt::UserRole + 1).value<QObject*>());
  accept();
}

}  // namespace sonde::gui
