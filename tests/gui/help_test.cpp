#include "gui/views/help_overlay.h"
#include "gui/views/panel.h"
#include "gui/views/time_input.h"
#include "tests/gui/window_rig.h"

#include <QAction>
#include <QPlainTextEdit>

#include <set>

namespace sonde::gui {
namespace {

using HelpTest = TimelineViewTest;

TEST_F(HelpTest, ListsExactlyTheShortcutsThatExist) {
  const auto* const help = window_.findChild<HelpOverlay*>(QStringLiteral("help"));
  std::multiset<QString> listed;
  for (const HelpLine& line : help->lines())
    for (const QString& key : line.keys.split(QStringLiteral(", ")))
      listed.insert(key);
  std::multiset<QString> existing{
      "Ctrl + wheel", "Shift + wheel", "Shift + drag", "drag", "click", "double click"};
  for (const QAction* action : window_.findChildren<QAction*>())
    for (const QKeySequence& key : action->shortcuts())
      if (key != QKeySequence(Qt::SHIFT | Qt::Key_Question))
        existing.insert(key.toString(QKeySequence::NativeText));
  for (const TimeKey& each : timeKeys())
    for (const int key : each.keys)
      if (key != 0)
        existing.insert(QKeySequence(key).toString(QKeySequence::NativeText));
  EXPECT_EQ(listed, existing);
  EXPECT_GT(existing.size(), 30U);
}

TEST_F(HelpTest, NoKeyMeansTwoThings) {
  std::set<QString> seen;
  for (const QAction* action : window_.findChildren<QAction*>())
    for (const QKeySequence& key : action->shortcuts())
      EXPECT_TRUE(seen.insert(key.toString()).second) << key.toString().toStdString();
  for (const TimeKey& each : timeKeys())
    for (const int key : each.keys)
      if (key != 0) {
        EXPECT_TRUE(seen.insert(QKeySequence(key).toString()).second) << each.text;
      }
}

TEST_F(HelpTest, AQuestionMarkIsALetterInATextAndHelpElsewhere) {
  openTraining();
  const auto* const help = window_.findChild<HelpOverlay*>(QStringLiteral("help"));
  window_.showView(QStringLiteral("sql"));
  settle();
  auto* const text = window_.view(QStringLiteral("sql"))->findChild<QPlainTextEdit*>();
  EXPECT_TRUE(text->hasFocus());
  const int before = static_cast<int>(text->toPlainText().size());
  QTest::keyClick(text, '?');
  EXPECT_EQ(text->toPlainText().size(), before + 1);
  EXPECT_FALSE(help->isVisible());
  QTest::keyClick(text, Qt::Key_F1);
  EXPECT_TRUE(help->isVisible());
}

TEST_F(HelpTest, AQuestionMarkShowsItAndAnyKeyHidesIt) {
  openTraining();
  const auto* const help = window_.findChild<HelpOverlay*>(QStringLiteral("help"));
  key(Qt::Key_Question);
  EXPECT_TRUE(help->isVisible());
  QTest::keyClick(const_cast<HelpOverlay*>(help), Qt::Key_Escape);
  EXPECT_FALSE(help->isVisible());
}

}  // namespace
}  // namespace sonde::gui
