#include "gui/views/window/focus_bar.h"

#include "gui/trace/time_format.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QTimer>
#include <QToolButton>

#include <algorithm>

namespace sonde::gui {
namespace {

constexpr int kTypingMs = 250;
constexpr int kMostLetters = 28;
constexpr std::int64_t kTimeParts = 100;  // of a span: the resolution of its ends

// In the colours of a selection: something is left out of the views.
QPalette limiting(QPalette palette) {
  const QColor fill = palette.color(QPalette::Highlight);
  const QColor text = palette.color(QPalette::HighlightedText);
  for (const auto role : {QPalette::Button, QPalette::Base})
    palette.setColor(role, fill);
  for (const auto role : {QPalette::ButtonText, QPalette::Text})
    palette.setColor(role, text);
  return palette;
}

}  // namespace

FocusBar::FocusBar(TraceModels& models, QWidget* parent)
    : QWidget(parent), models_(models), focus_(models.focus) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(4, 0, 4, 0);
  only_ = new QLabel(tr("Showing only"));
  only_->setToolTip(tr("All views are limited to this. Ctrl + Shift + L shows all again"));
  time_ = buttonOf(&FocusBar::clearTime);
  time_->setObjectName(QStringLiteral("selectedTime"));
  time_->setToolTip(tr("Views show only the selected span. Click: show all time again"));
  rank_ = buttonOf(&FocusBar::clearRank);
  operation_ = buttonOf(&FocusBar::clearOperation);
  name_ = new QLineEdit;
  name_->setPlaceholderText(tr("Filter all views: a part of a name"));
  name_->setAccessibleName(tr("Filter all views"));
  name_->setToolTip(tr("Views show only what has this text in its name"));
  name_->setClearButtonEnabled(true);
  name_->setFocusPolicy(Qt::ClickFocus);  // the view in front has the keys
  name_->setMinimumWidth(120);
  name_->setMaximumWidth(320);
  typing_ = new QTimer(this);
  typing_->setSingleShot(true);
  typing_->setInterval(kTypingMs);
  layout->addWidget(only_);
  layout->addWidget(time_);
  layout->addWidget(rank_);
  layout->addWidget(operation_);
  layout->addWidget(name_, 1);
  layout->addStretch(1);
  connect(name_, &QLineEdit::textEdited, typing_, qOverload<>(&QTimer::start));
  connect(name_, &QLineEdit::returnPressed, this, &FocusBar::setName);
  connect(typing_, &QTimer::timeout, this, &FocusBar::setName);
  connect(&focus_, &Focus::changed, this, &FocusBar::show);
  connect(&models_.view, &ViewState::areaChanged, this, &FocusBar::showTime);
  show();
  showTime();
}

QToolButton* FocusBar::buttonOf(void (FocusBar::*clear)()) {
  auto* button = new QToolButton;
  button->setToolTip(tr("Views show only this. Click: show all again"));
  connect(button, &QToolButton::clicked, this, clear);
  return button;
}

void FocusBar::activate() {
  name_->setFocus();
  name_->selectAll();
}

QString FocusBar::timeText() const {
  const auto& area = models_.view.area();
  if (!area)
    return {};
  const std::int64_t origin = models_.document.skeleton().originNs;
  const std::int64_t resolution = std::max<std::int64_t>(area->span.durNs() / kTimeParts, 1);
  return tr("%1 – %2").arg(formatTime(area->span.beginNs - origin, resolution),
                           formatTime(area->span.endNs - origin, resolution));
}

void FocusBar::showTime() {
  time_->setVisible(models_.view.area().has_value());
  time_->setText(tr("%1  ×").arg(timeText()));
  emphasise();
}

// Whoever sees rows or bars missing finds the reason here.
void FocusBar::emphasise() {
  only_->setVisible(models_.view.area() || !focus_.part().isAll());
  for (QToolButton* button : {time_, rank_, operation_})
    button->setPalette(limiting(palette()));
  name_->setPalette(focus_.part().name.isEmpty() ? palette() : limiting(palette()));
}

void FocusBar::clearTime() {
  models_.view.setArea(std::nullopt);
}

void FocusBar::clearRank() {
  Focus::Part part = focus_.part();
  part.rank.reset();
  focus_.set(part);
}

void FocusBar::clearOperation() {
  Focus::Part part = focus_.part();
  part.operation.clear();
  focus_.set(part);
}

void FocusBar::setName() {
  typing_->stop();
  Focus::Part part = focus_.part();
  part.name = name_->text();
  focus_.set(part);
}

void FocusBar::show() {
  const Focus::Part& part = focus_.part();
  rank_->setVisible(part.rank.has_value());
  rank_->setText(tr("rank %1  ×").arg(part.rank.value_or(0)));
  operation_->setVisible(!part.operation.isEmpty());
  operation_->setText(tr("%1  ×").arg(fontMetrics().elidedText(
      part.operation, Qt::ElideMiddle, kMostLetters * fontMetrics().averageCharWidth())));
  if (!typing_->isActive() && name_->text() != part.name)
    name_->setText(part.name);
  emphasise();
}

}  // namespace sonde::gui
