#include "gui/app/look.h"

#include "gui/views/theme.h"

#include <QApplication>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>

namespace sonde::gui {
namespace {

// Fusion draws the edges of check boxes darker than the window, which nobody sees on a dark one.
class PlainStyle : public QProxyStyle {
 public:
  PlainStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

  void drawPrimitive(PrimitiveElement element,
                     const QStyleOption* option,
                     QPainter* painter,
                     const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    if (element != PE_IndicatorCheckBox || !Theme(option->palette).dark())
      return;
    painter->setPen(option->palette.color(QPalette::PlaceholderText));
    painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
  }
};

}  // namespace

QString wordOf(Look look) {
  switch (look) {
    case Look::System:
      return QStringLiteral("system");
    case Look::Light:
      return QStringLiteral("light");
    case Look::Dark:
      break;
  }
  return QStringLiteral("dark");
}

std::optional<Look> lookOf(const QString& word) {
  for (const Look look : {Look::System, Look::Light, Look::Dark})
    if (wordOf(look) == word)
      return look;
  return std::nullopt;
}

void applyLook(Look look) {
  static const QString kDesktop = QApplication::style()->name();  // before the first change
  if (look == Look::System) {
    QApplication::setStyle(kDesktop);
    QApplication::setPalette(QPalette());
    return;
  }
  QApplication::setStyle(new PlainStyle);
  QApplication::setPalette(plainPalette(look == Look::Dark));
}

}  // namespace sonde::gui
