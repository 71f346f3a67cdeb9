// The commands for the lines of the timeline: pin, hide and move them, and choose how all
// are grouped and ordered. The menu of a line and the window's menu have the same commands. Main
// thread.
#pragma once

#include "gui/models/trace_models.h"

#include <QKeySequence>
#include <QString>

#include <span>

class QAction;
class QMenu;

namespace sonde::gui {

// A command for one line, that of a track, group or process; nullptr: no line is chosen.
struct TrackCommand {
  // For this line; "&" marks the letter for the keyboard.
  QString (*text)(const TraceModels& models, const LayoutEntry* line);
  QKeyCombination key;
  bool (*isPossible)(const TraceModels& models, const LayoutEntry* line);
  // Requires: it is possible.
  void (*run)(TraceModels& models, const LayoutEntry* line);
};
// In the order of the menus.
[[nodiscard]] std::span<const TrackCommand> trackCommands();
// Does nothing if the command is not possible.
void runCommand(const TrackCommand& command, TraceModels& models, const LayoutEntry* line);

// Adds a submenu with the groupings and one with the orders. Returns their actions.
QList<QAction*> addTrackChoices(QMenu& menu, TraceModels& models);

// All commands for this line. Deletes itself when it is closed.
[[nodiscard]] QMenu* menuOf(const LayoutEntry& line, TraceModels& models, QWidget* parent);

}  // namespace sonde::gui
