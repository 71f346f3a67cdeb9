#include "gui/views/section.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace sonde::gui {

Section::Section(const QString& title, QWidget* content, const QString& view, const QString& link) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  auto* heading = new QHBoxLayout;
  auto* text = new QLabel(title);
  QFont font = text->font();
  font.setBold(true);
  text->setFont(font);
  heading->addWidget(text, 1);
  if (!view.isEmpty()) {
    auto* more = new QLabel(
        QStringLiteral("<a href=\"%1\">%2</a>").arg(view.toHtmlEscaped(), link.toHtmlEscaped()));
    more->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(more, &QLabel::linkActivated, this, &Section::viewWanted);
    heading->addWidget(more);
  }
  layout->addLayout(heading);
  layout->addWidget(content, 1);
  content->setAccessibleName(title);
}

}  // namespace sonde::gui
