// When the job was busy, iteration by iteration, as a heat map that can be folded away: a click or
// a drag selects a range of time. Main thread.
#pragma once

#include "analysis/engine/callpaths/busy_cells.h"
#include "gui/models/table/value_table.h"
#include "gui/models/view_state.h"

#include <QWidget>

#include <optional>

class QLabel;
class QToolButton;

namespace sonde::gui {

class HeatMap;

class ScopePane : public QWidget {
  Q_OBJECT

 public:
  explicit ScopePane(QWidget* parent = nullptr);

  void setOpen(bool isOpen);
  [[nodiscard]] bool isOpen() const;
  // `unit`: of the values.
  void show(engine::callpaths::BusyCells cells, ValueKind unit);
  // The text instead of the map.
  void showText(const QString& text);
  // Outlines the cells of a time; nullopt: none.
  void outline(const std::optional<Span>& span);
  [[nodiscard]] const engine::callpaths::BusyCells& cells() const { return cells_; }
  [[nodiscard]] const HeatMap& map() const { return *map_; }

 signals:
  void opened(bool isOpen);
  void spanSelected(const sonde::gui::Span& span);

 private:
  engine::callpaths::BusyCells cells_;
  QToolButton* fold_ = nullptr;
  QLabel* note_ = nullptr;
  HeatMap* map_ = nullptr;
  bool hasMap_ = false;
};

}  // namespace sonde::gui
