#include "gui/views/theme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace sonde::gui {
namespace {

// WCAG 2.1.
double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double part) {
      return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
           0.0722 * linear(color.blueF());
  };
  const double first = luminance(a);
  const double second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

TEST(Theme, NamesHaveShadesOfTheirKindsHueThatTheLegendShows) {
  const Theme theme(plainPalette(false));
  const std::vector<LegendEntry> legend = Theme::legend();
  std::set<QRgb> shades;
  for (int number = 0; number < 200; ++number) {
    const QString name = QStringLiteral("operation %1").arg(number);
    const QColor fill = theme.fill(Kind::Operation, name);
    EXPECT_EQ(fill, Theme(plainPalette(true)).fill(Kind::Operation, name));
    EXPECT_NEAR(fill.hslHueF(), theme.fill(Kind::Operation).hslHueF(), 0.01);
    shades.insert(fill.rgb());
  }
  EXPECT_EQ(shades.size(), 8U);
  for (int kind = static_cast<int>(Kind::Phase); kind <= static_cast<int>(kLastKind); ++kind) {
    const auto entry = std::find_if(legend.begin(), legend.end(), [&](const LegendEntry& each) {
      return std::count(each.kinds.begin(), each.kinds.end(), Kind(kind)) > 0;
    });
    ASSERT_NE(entry, legend.end()) << kind;
    for (const char* name : {"a", "b", "c", "d", "e"})
      EXPECT_EQ(
          std::count(entry->colors.begin(), entry->colors.end(), theme.fill(Kind(kind), name)), 1)
          << kind;
  }
}

TEST(Theme, TextCanBeReadOnEveryFill) {
  for (const bool dark : {false, true}) {
    const Theme theme(plainPalette(dark));
    EXPECT_GE(contrast(theme.text, theme.life), 4.5);
    for (int kind = static_cast<int>(Kind::Phase); kind <= static_cast<int>(kLastKind); ++kind)
      for (int number = 0; number < 40; ++number) {
        const QString name = QString::number(number);
        for (const QColor& fill :
             {theme.fill(Kind(kind), name),
              theme.fill(name),
              theme.faded(theme.fill(Kind(kind), name), 0.35 + number * 0.015)})
          EXPECT_GE(contrast(fill, Theme::textOn(fill)), 4.5) << fill.name().toStdString();
      }
  }
}

}  // namespace
}  // namespace sonde::gui
