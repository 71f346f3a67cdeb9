// Who sends how much to whom: a matrix of senders and receivers, a table of their links, and one of
// collectives. A selected span limits them to what overlaps it. Main thread; the models must
// outlive it.
#pragma once

#include "gui/models/network/network_values.h"
#include "gui/models/table/value_table.h"
#include "gui/views/panel.h"

#include <memory>
#include <optional>

class QComboBox;
class QLabel;
class QLayout;
class QSplitter;

namespace sonde::gui {

class HeatMap;

class NetworkView : public Panel {
  Q_OBJECT

 public:
  explicit NetworkView(TraceModels& models);

  void choose(LinkValue value);
  [[nodiscard]] const HeatMap& map() const { return *map_; }
  [[nodiscard]] const ValueTable& links() const { return links_; }
  [[nodiscard]] const ValueTable& communicators() const { return communicators_; }
  [[nodiscard]] QString note() const;

 protected:
  void read() override;

 private:
  QLayout* buildLine();
  void show();
  void showLinks();
  void chooseCell(std::size_t row, std::size_t column);
  void openCell(std::size_t row, std::size_t column);

  std::shared_ptr<const NetworkValues> values_;
  LinkMatrix matrix_;
  std::optional<LinkPair> only_;  // the pair that the table shows; unset: all
  ValueTable links_{linkColumns()};
  ValueTable communicators_{communicatorColumns()};
  QComboBox* value_ = nullptr;
  QSplitter* upper_ = nullptr;  // the matrix and the links
  QLabel* note_ = nullptr;
  HeatMap* map_ = nullptr;
};

}  // namespace sonde::gui
