// The last collectives of a group by rank, for a finding that a job hangs: a row a rank, a column a
// collective, the newest at the right. Copies the engine's values. Main thread.
#pragma once

#include "analysis/engine/standstill/collective_states.h"
#include "gui/models/place.h"

#include <QAbstractTableModel>
#include <QColor>

#include <optional>

namespace sonde::gui {

class CollectiveMatrix : public QAbstractTableModel {
  Q_OBJECT

 public:
  using States = engine::standstill::CollectiveStates;
  using State = engine::standstill::CollectiveState;

  using QAbstractTableModel::QAbstractTableModel;

  void show(std::optional<States> states);
  [[nodiscard]] const std::optional<States>& states() const { return states_; }
  [[nodiscard]] QString group() const;
  // "rank 8, allreduce 12: waits inside; came 3 ms after the first". Requires: the index is valid.
  [[nodiscard]] QString textOf(const QModelIndex& index) const;
  // The event of a rank's call; unset if the trace has none, as in dumps.
  [[nodiscard]] std::optional<Place> placeOf(const QModelIndex& index) const;
  // "done", "waits inside", …
  [[nodiscard]] static QString wordOf(State state);
  // A sign that stands for the state besides its colour.
  [[nodiscard]] static QString signOf(State state);
  [[nodiscard]] static QColor colorOf(State state);

  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section,
                                    Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] const States::Cell& cellAt(const QModelIndex& index) const;

  std::optional<States> states_;
};

}  // namespace sonde::gui
