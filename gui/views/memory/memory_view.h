// The memory of processes and devices over time, with its peak; at the peak or where the user
// clicks, the allocations that are alive; and the use of memory by operation. Follows the selected
// span. Main thread; the models must outlive it.
#pragma once

#include "gui/models/memory/memory_values.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <cstdint>
#include <optional>
#include <vector>

class QLabel;
class QPushButton;

namespace sonde::gui {

class LineChart;
class TablePanel;

class MemoryView : public Panel {
  Q_OBJECT

 public:
  explicit MemoryView(TraceModels& models);

  // Shows a row of places(). Requires: there are so many.
  void choose(int row);
  [[nodiscard]] const ValueTable& places() const { return places_; }
  [[nodiscard]] const ValueTable& holders() const { return holders_; }
  [[nodiscard]] const ValueTable& operations() const { return operations_; }
  [[nodiscard]] const LineChart& chart() const { return *chart_; }
  [[nodiscard]] QString note() const;

 protected:
  void read() override;

 private:
  QWidget* buildHolders();
  void showPlaces(int row);
  void showChart();
  // At the last level that began at or before there.
  void lookAt(double seconds);
  void lookAtPeak();
  void readHolders(const MemoryPoint& at);
  [[nodiscard]] double secondsOf(std::int64_t jobNs);
  [[nodiscard]] const MemoryLine& line() const {
    return lines_.at(static_cast<std::size_t>(line_));
  }

  std::vector<MemoryLine> lines_;
  int line_ = 0;
  std::optional<MemoryPoint> at_;  // that the user looks at; unset: the peak
  ValueTable places_{memoryColumns()};
  ValueTable holders_{holderColumns()};
  ValueTable operations_{memoryOperationColumns()};
  LineChart* chart_ = nullptr;
  QLabel* note_ = nullptr;
  QPushButton* peak_ = nullptr;
  QPushButton* timeline_ = nullptr;
  QObject holdersRead_;  // a part for askFor()
};

}  // namespace sonde::gui
