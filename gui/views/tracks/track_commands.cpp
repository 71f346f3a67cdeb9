#include "gui/views/tracks/track_commands.h"

#include <QAction>
#include <QActionGroup>
#include <QCoreApplication>
#include <QMenu>

#include <algorithm>
#include <optional>
#include <vector>

namespace sonde::gui {
namespace {

using Grouping = TrackArrangement::Grouping;
using Order = TrackArrangement::Order;

QString tr(const char* text) {
  return QCoreApplication::translate("TrackCommands", text);
}

std::vector<TrackId> idsOf(const TraceModels& models, const LayoutEntry& line) {
  std::vector<TrackId> ids;
  for (const int track : models.timeline.layout().tracksOf(line))
    ids.push_back(idOf(models.document.skeleton().tracks.at(static_cast<std::size_t>(track))));
  return ids;
}

// Changes the arrangement by `edit(arrangement)`.
template <typename Edit>
void arrange(TraceModels& models, Edit edit) {
  TrackArrangement changed = models.timeline.arrangement();
  edit(changed);
  models.timeline.arrange(std::move(changed));
}

bool hasTracks(const TraceModels& models, const LayoutEntry* line) {
  return line != nullptr && !models.timeline.layout().tracksOf(*line).empty();
}

// The process above which that of `line` comes when it moves up or down by one; -1: the end.
// nullopt: it cannot move.
std::optional<int> neighbour(const TraceModels& models, const LayoutEntry* line, bool isUp) {
  const std::vector<int>& processes = models.timeline.layout().processes();
  const auto at = line == nullptr ? processes.end()
                                  : std::find(processes.begin(), processes.end(), line->process);
  if (at == processes.end() || at == (isUp ? processes.begin() : processes.end() - 1))
    return std::nullopt;
  if (isUp)
    return *(at - 1);
  return processes.end() - at > 2 ? *(at + 2) : -1;
}

template <bool isUp>
bool canMove(const TraceModels& models, const LayoutEntry* line) {
  return neighbour(models, line, isUp).has_value();
}

template <bool isUp>
void move(TraceModels& models, const LayoutEntry* line) {
  arrange(models, [&](TrackArrangement& arrangement) {
    arrangement.moveProcess(
        models.document.skeleton(), line->process, *neighbour(models, line, isUp));
  });
}

QString pinText(const TraceModels& /*models*/, const LayoutEntry* line) {
  if (line == nullptr)
    return tr("&Pin to the top, or unpin");
  return line->isPinned ? tr("Un&pin") : tr("&Pin to the top");
}

QString hiddenText(const TraceModels& models, const LayoutEntry* /*line*/) {
  const int hidden = models.timeline.layout().hiddenTracks();
  return hidden == 0 ? tr("&Show hidden tracks") : tr("&Show hidden tracks (%1)").arg(hidden);
}

const TrackCommand kCommands[] = {
    {pinText,
     Qt::Key_T,
     hasTracks,
     [](TraceModels& models, const LayoutEntry* line) {
       arrange(models, [&](TrackArrangement& each) { each.togglePinned(idsOf(models, *line)); });
     }},
    {[](const TraceModels&, const LayoutEntry*) { return tr("&Unpin all"); },
     Qt::SHIFT | Qt::Key_T,
     [](const TraceModels& models, const LayoutEntry*) {
       return !models.timeline.arrangement().pinned.empty();
     },
     [](TraceModels& models, const LayoutEntry*) {
       arrange(models, [](TrackArrangement& each) { each.pinned.clear(); });
     }},
    {[](const TraceModels&, const LayoutEntry*) { return tr("&Hide"); },
     Qt::Key_H,
     hasTracks,
     [](TraceModels& models, const LayoutEntry* line) {
       arrange(models, [&](TrackArrangement& each) { each.hide(idsOf(models, *line)); });
     }},
    {hiddenText,
     Qt::SHIFT | Qt::Key_H,
     [](const TraceModels& models, const LayoutEntry*) {
       return models.timeline.layout().hiddenTracks() > 0;
     },
     [](TraceModels& models, const LayoutEntry*) {
       arrange(models, [](TrackArrangement& each) { each.hidden.clear(); });
     }},
    {[](const TraceModels&, const LayoutEntry*) { return tr("Move the process u&p"); },
     Qt::ALT | Qt::Key_Up,
     canMove<true>,
     move<true>},
    {[](const TraceModels&, const LayoutEntry*) { return tr("Move the process &down"); },
     Qt::ALT | Qt::Key_Down,
     canMove<false>,
     move<false>},
};

template <typename Value>
struct Choice {
  const char* text;
  Value value;
};

constexpr Choice<Grouping> kGroupings[] = {
    {"&Process", Grouping::Process},
    {"&Device", Grouping::Device},
    {"&Kind, of all processes", Grouping::Kind},
};
constexpr Choice<Order> kOrders[] = {
    {"&Rank", Order::Rank},
    {"&Start", Order::Start},
    {"Number of &events", Order::Events},
};

// A submenu with the values of `member`; the present one is checked.
template <typename Value, std::size_t Count>
void addChoices(QMenu& menu,
                TraceModels& models,
                const Choice<Value> (&choices)[Count],
                Value TrackArrangement::*member) {
  auto* group = new QActionGroup(&menu);
  group->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
  for (const Choice<Value>& choice : choices) {
    QAction* action = menu.addAction(tr(choice.text));
    action->setActionGroup(group);
    action->setCheckable(true);
    const auto show = [&models, action, member, value = choice.value] {
      action->setChecked(models.timeline.arrangement().*member == value);
    };
    show();
    QObject::connect(&models.timeline, &TimelineModel::layoutChanged, action, show);
    QObject::connect(
        action, &QAction::triggered, action, [&models, show, member, value = choice.value] {
          arrange(models, [&](TrackArrangement& each) { each.*member = value; });
          show();
        });
  }
}

}  // namespace

std::span<const TrackCommand> trackCommands() {
  return kCommands;
}

void runCommand(const TrackCommand& command, TraceModels& models, const LayoutEntry* line) {
  if (command.isPossible(models, line))
    command.run(models, line);
}

QList<QAction*> addTrackChoices(QMenu& menu, TraceModels& models) {
  QMenu* groupings = menu.addMenu(tr("&Group tracks by"));
  addChoices(*groupings, models, kGroupings, &TrackArrangement::grouping);
  QMenu* orders = menu.addMenu(tr("&Order processes by"));
  addChoices(*orders, models, kOrders, &TrackArrangement::order);
  return groupings->actions() + orders->actions();
}

QMenu* menuOf(const LayoutEntry& line, TraceModels& models, QWidget* parent) {
  auto* menu = new QMenu(parent);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  // Another trace has other lines.
  QObject::connect(&models.document, &TraceDocument::replaced, menu, &QMenu::close);
  for (const TrackCommand& command : kCommands) {
    QAction* action = menu->addAction(command.text(models, &line));
    action->setEnabled(command.isPossible(models, &line));
    QObject::connect(action, &QAction::triggered, menu, [&command, &models, line] {
      runCommand(command, models, &line);
    });
  }
  menu->addSeparator();
  addTrackChoices(*menu, models);
  return menu;
}

}  // namespace sonde::gui
