#include "gui/views/panel.h"

#include <QLabel>
#include <QStackedLayout>

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
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::Base);
  showMessage(tr("Open a trace: Ctrl + O"));
  connect(&models_.document, &TraceDocument::replaced, this, [this] {
    showMessage(models_.document.state() == TraceDocument::State::Loading
                    ? tr("Opening…")
                    : tr("Open a trace: Ctrl + O"));
    isDue_ = true;
  });
  connect(&models_.document, &TraceDocument::opened, this, &Panel::readIfDue);
}

QString Panel::message() const {
  return layers_->currentWidget() == message_ ? message_->text() : QString();
}

void Panel::setContent(QWidget* content) {
  layers_->addWidget(content);
  setFocusProxy(content);
}

void Panel::showContent() {
  layers_->setCurrentIndex(1);
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
