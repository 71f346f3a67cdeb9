// The chain that holds the iterations up: the critical path of one part by part, of all of them in
// sum, and the slack of threads and streams. Main thread; the models must outlive it.
#pragma once

#include "gui/models/graph/job_paths.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <memory>

class QCheckBox;
class QComboBox;
class QLabel;

namespace sonde::gui {

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

 protected:
  void read() override;

 private:
  QWidget* tableOf(ValueTable& table, const QString& title, int stretch, QWidget* beside = nullptr);
  void show(std::shared_ptr<const JobPaths> job);
  void showParts();
  void draw();

  std::shared_ptr<const JobPaths> job_;  // nullptr: not read yet
  ValueTable shares_{shareColumns()};
  ValueTable parts_{partColumns()};
  ValueTable slacks_{slackColumns()};
  QObject drawing_;  // asks for the paths while this view is not in front
  QComboBox* iteration_ = nullptr;
  QCheckBox* inTimeline_ = nullptr;
  QLabel* note_ = nullptr;
};

}  // namespace sonde::gui
