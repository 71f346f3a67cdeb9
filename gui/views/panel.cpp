#include "gui/views/panel.h"

#include "gui/views/table/table_panel.h"

#include <QApplication>
#include <QLabel>
#include <QStackedLayout>
#include <QVBoxLayout>

namespace sonde::gui {

Panel::Panel(TraceModels& models, QWidget* parent) : QWidget(parent), models_(models) {
  layers_ = new QStackedLayout(this);
  message_ = new QLabel;
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  message_->setTextFormat(Qt::PlainText);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  message_->setMargin(24);
  message_->setObjectName(QStringLiteral("message"));
  layers_->addWidget(message_);
  setMinimumSize(
      1, 1);  // a view that needs more room is cut; the window keeps the size that it is given
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::Base);
  showNoTrace();
  connect(&models_.document, &TraceDocument::replaced, this, [this] {
    if (models_.document.state() == TraceDocument::State::Loading)
      showMessage(tr("Opening…"));
    else if (models_.document.state() == TraceDocument::State::Empty)
      showNoTrace();
    isDue_ = true;
  });
  connect(&models_.document,
          &TraceDocument::progressed,
          this,
          [this](const QString& step, double share) {
            showMessage(tr("Opening… %1 %\n%2").arg(int(100 * share)).arg(step));
          });
  connect(&models_.document, &TraceDocument::failed, this, [this](const QString& text) {
    if (models_.document.state() == TraceDocument::State::Failed)
      showMessage(text);
  });
  connect(&models_.document, &TraceDocument::opened, this, &Panel::readIfDue);
}

void Panel::setFirstPage(QWidget* page) {
  first_ = page;
  layers_->addWidget(page);
  showNoTrace();
}

void Panel::showNoTrace() {
  if (first_ != nullptr)
    layers_->setCurrentWidget(first_);
  else
    showMessage(tr("Open a trace: Ctrl + O"));
}

QString Panel::message() const {
  return layers_->currentWidget() == message_ ? message_->text() : QString();
}

void Panel::setContent(QWidget* content) {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  whole_ = new QLabel(tr("Of the whole trace: this view does not follow the selected span."));
  whole_->setObjectName(QStringLiteral("wholeTrace"));
  whole_->setContentsMargins(8, 4, 8, 0);
  layout->addWidget(whole_);
  layout->addWidget(content, 1);
  layers_->addWidget(page);
  setFocusProxy(content);
  connect(&models_.view, &ViewState::areaChanged, this, &Panel::showWholeTrace);
  showWholeTrace();
  const QList<TablePanel*> tables = content->findChildren<TablePanel*>();
  for (TablePanel* table : tables) {
    connect(&models_.focus, &Focus::changed, table, [this, table] {
      table->setPart(models_.focus.part());
    });
    connect(table, &TablePanel::partWanted, this, [this](const Place& place) {
      models_.focus.set({place.rank, place.operation, place.name});
    });
    connect(table, &TablePanel::allWanted, &models_.focus, &Focus::clear);
  }
}

void Panel::followTime() {
  followsTime_ = true;
  connect(&models_.view, &ViewState::areaChanged, this, &Panel::refresh);
  showWholeTrace();
}

void Panel::showWholeTrace() {
  whole_->setVisible(!followsTime_ && models_.view.area());
}

void Panel::showContent() {
  const bool hadKeys =
      isShown_ && (QApplication::focusWidget() == nullptr || hasFocus() || message_->hasFocus());
  layers_->setCurrentIndex(1);
  if (hadKeys)
    setFocus();
}

void Panel::showMessage(const QString& message) {
  message_->setText(message);
  layers_->setCurrentWidget(message_);
}

void Panel::refresh() {
  isDue_ = true;
  readIfDue();
}

void Panel::setShown(bool shown) {
  isShown_ = shown;
  readIfDue();
}

void Panel::readIfDue() {
  if (!isDue_ || !isShown_ || !models_.document.ready())
    return;
  isDue_ = false;
  read();
}

}  // namespace sonde::gui
