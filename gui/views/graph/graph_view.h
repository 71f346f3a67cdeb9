// The chain that holds the iterations up: the critical path of one part by part, of all of them in
// sum, and the slack of threads and streams. Main thread; the models must outlive it.
#pragma once

#include "gui/models/graph/job_paths.h"
#include "gui/models/graph/neighbours.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <memory>
#include <optional>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;

namespace sonde::gui {

class TablePanel;

class GraphView : public Panel {
  Q_OBJECT

 public:
  explicit GraphView(TraceModels& models);

  // Shows the path of this iteration. Requires: there are so many.
  void choose(int path);
  // Draws the paths of all iterations over the timeline, or removes them.
  void showInTimeline(bool wanted);
  [[nodiscard]] bool isInTimeline() const;
  [[nodiscard]] const ValueTable& shares() const { return shares_; }
  [[nodiscard]] const ValueTable& parts() const { return parts_; }
  [[nodiscard]] const ValueTable& slacks() const { return slacks_; }
  // The neighbourhood of the node in its centre.
  [[nodiscard]] const ValueTable& neighbours() const { return neighbours_; }
  [[nodiscard]] std::optional<engine::graph::NodeIndex> centre() const { return centre_; }
  // Shows the neighbourhood of the node of this part of the path. Requires: there is one.
  void choosePart(int row);
  // Makes this neighbour the centre. Requires: there is one.
  void goTo(int row);

 protected:
  void read() override;

 private:
  TablePanel* tableOf(ValueTable& table, int stretch);
  QWidget* titled(TablePanel* rows, const QString& title, QWidget* beside = nullptr);
  QWidget* buildNeighbours();
  void showNeighbours(engine::graph::NodeIndex node);
  void show(std::shared_ptr<const JobPaths> job);
  void showParts();
  void clear();
  void draw();
  void refuse(const QString& message);

  std::shared_ptr<const JobPaths> job_;  // nullptr: not read yet
  ValueTable shares_{shareColumns()};
  ValueTable parts_{partColumns()};
  ValueTable slacks_{slackColumns()};
  ValueTable neighbours_{neighbourColumns()};
  std::optional<engine::graph::NodeIndex> centre_;
  std::vector<engine::graph::NodeIndex> neighbourNodes_;  // by row
  QObject drawing_;  // asks for the paths while this view is not in front
  TablePanel* partsPanel_ = nullptr;
  QComboBox* iteration_ = nullptr;
  QCheckBox* inTimeline_ = nullptr;
  QLabel* note_ = nullptr;
  QLabel* centreText_ = nullptr;
  QPushButton* goTo_ = nullptr;
};

}  // namespace sonde::gui
