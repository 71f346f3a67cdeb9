// The window itself, driven by keys and mouse on an invisible screen.
#pragma once

#include "gui/app/main_window.h"
#include "gui/views/theme.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/sample_trace.h"

#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <gtest/gtest.h>

#include <string>

namespace sonde::gui {

class TimelineViewTest : public ::testing::Test {
 protected:
  TimelineViewTest() {
    window_.setPalette(plainPalette(false));
    window_.resize(1200, 700);
    window_.showView(QStringLiteral("timeline"));
    window_.show();
  }

  [[nodiscard]] QString file(const char* name) const { return folder_.filePath(name); }
  [[nodiscard]] std::string path(const char* name) const { return file(name).toStdString(); }

  void open(const char* name) {
    window_.open({file(name)});
    settle();
    ASSERT_EQ(window_.models().document.state(), TraceDocument::State::Ready)
        << window_.models().document.error().toStdString();
  }
  void openTraining() {
    testing::writeTraining(path("train.sonde"), 6);
    open("train.sonde");
  }
  static constexpr int kSettleMs = 120'000;  // also under AddressSanitizer
  // After the last answer, one more turn of the loop may be needed to lay the window out.
  void settle() {
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
          const bool before = window_.models().settled();
          QCoreApplication::processEvents();
          return before && window_.models().settled();
        },
        kSettleMs));
  }
  void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&window_.timeline(), static_cast<Qt::Key>(key), modifiers);
    settle();
  }
  void wheel(QPointF at, int notches, Qt::KeyboardModifiers modifiers) {
    QWidget* target = window_.timeline().viewport();
    QWheelEvent event(at,
                      target->mapToGlobal(at),
                      {},
                      {0, notches * 120},
                      Qt::NoButton,
                      modifiers,
                      Qt::NoScrollPhase,
                      false);
    QCoreApplication::sendEvent(target, &event);
    settle();
  }
  // The middle of the first block of `track` whose name contains `name`.
  [[nodiscard]] QPoint middleOf(int track, const QString& name) {
    for (const Block& block : *window_.models().timeline.blocks(track))
      if (window_.models().timeline.names().value(block.nameId).contains(name))
        return window_.timeline().currentGeometry().rectOf(track, block).center().toPoint();
    ADD_FAILURE() << "no " << name.toStdString();
    return {};
  }
  void click(const QPoint& at) {
    QTest::mouseClick(window_.timeline().viewport(), Qt::LeftButton, Qt::NoModifier, at);
    settle();
  }
  [[nodiscard]] QColor pixel(const QPoint& at) {
    return window_.timeline().viewport()->grab().toImage().pixelColor(at);
  }
  [[nodiscard]] const Viewport& shown() { return window_.models().view.viewport(); }

  QTemporaryDir folder_;
  MainWindow window_;
};

}  // namespace sonde::gui
