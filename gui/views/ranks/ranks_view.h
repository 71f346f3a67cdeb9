// All iterations of all ranks as a heat map, with the rank that makes the job slow. Main thread;
// the models must outlive it.
#pragma once

#include "gui/models/ranks/rank_matrix.h"
#include "gui/views/panel.h"

class QComboBox;
class QLabel;

namespace sonde::gui {

class HeatMap;

class RanksView : public Panel {
  Q_OBJECT

 public:
  explicit RanksView(TraceModels& models);

  void choose(RankValue value);
  [[nodiscard]] const HeatMap& map() const { return *map_; }
  [[nodiscard]] QString note() const;

 protected:
  void read() override;

 private:
  void show();
  void showCell(std::size_t row, std::size_t column);

  std::shared_ptr<const engine::report::JobReport> report_;  // nullptr: not read yet
  RankMatrix matrix_;
  QComboBox* value_ = nullptr;
  bool isChosen_ = false;  // by the user; else the view chooses the value
  QLabel* note_ = nullptr;
  HeatMap* map_ = nullptr;
};

}  // namespace sonde::gui
