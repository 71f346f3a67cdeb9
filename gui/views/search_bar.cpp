#include "gui/views/search_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>

namespace sonde::gui {

SearchBar::SearchBar(QWidget* parent) : QWidget(parent), edit_(new QLineEdit), answer_(new QLabel) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  auto* label = new QLabel(tr("Search"));
  label->setBuddy(edit_);
  edit_->setPlaceholderText(
      tr("part of a name, or argument=value: Enter next, Shift+Enter previous, Esc close"));
  edit_->setClearButtonEnabled(true);
  edit_->setMaximumWidth(480);
  edit_->setObjectName(QStringLiteral("search"));
  edit_->installEventFilter(this);
  layout->addWidget(label);
  layout->addWidget(edit_);
  layout->addWidget(answer_);
  layout->addStretch();
  hide();
}

void SearchBar::activate() {
  QWidget::show();
  edit_->setFocus();
  edit_->selectAll();
}

void SearchBar::show(const SearchReply& reply) {
  if (reply.hits == 0)
    answer_->setText(tr("no name or argument contains this"));
  else
    answer_->setText(
        tr("%L1 of %L2%3").arg(reply.position).arg(reply.hits).arg(reply.capped ? "+" : ""));
}

bool SearchBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched != edit_ || event->type() != QEvent::KeyPress)
    return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
    if (edit_->text().isEmpty())
      return true;
    answer_->setText(tr("searching …"));
    emit wanted(edit_->text(), (key->modifiers() & Qt::ShiftModifier) == 0);
    return true;
  }
  if (key->key() == Qt::Key_Escape) {
    hide();
    answer_->clear();
    emit closed();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace sonde::gui
