#include "gui/models/findings/collective_matrix.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

// The span that shows a call without an end.
constexpr std::int64_t kOpenNs = 1'000'000'000;

QString collectiveOf(const CollectiveMatrix::States::Column& column) {
  return QStringLiteral("%1 %2").arg(qtext(column.op)).arg(column.seq);
}

}  // namespace

void CollectiveMatrix::show(std::optional<States> states) {
  beginResetModel();
  states_ = std::move(states);
  endResetModel();
}

QString CollectiveMatrix::group() const {
  return states_ ? QString(qtext(states_->group)) : QString();
}

QString CollectiveMatrix::wordOf(State state) {
  switch (state) {
    case State::Done:
      return tr("done");
    case State::Waiting:
      return tr("waits inside");
    case State::NotEntered:
      return tr("not entered");
    default:
      return tr("unknown");
  }
}

QString CollectiveMatrix::signOf(State state) {
  switch (state) {
    case State::Done:
      return QStringLiteral("✓");
    case State::Waiting:
      return QStringLiteral("…");
    case State::NotEntered:
      return QStringLiteral("✗");
    default:
      return QStringLiteral("?");
  }
}

// Distinct with the common colour-vision deficiencies, after Okabe and Ito.
QColor CollectiveMatrix::colorOf(State state) {
  switch (state) {
    case State::Done:
      return {0xb5, 0xdd, 0xd0};
    case State::Waiting:
      return {0xf0, 0xb8, 0x4a};
    case State::NotEntered:
      return {0xb8, 0x3a, 0x1b};
    default:
      return {0xd4, 0xd4, 0xd4};
  }
}

int CollectiveMatrix::rowCount(const QModelIndex& parent) const {
  return states_ && !parent.isValid() ? static_cast<int>(states_->rows.size()) : 0;
}

int CollectiveMatrix::columnCount(const QModelIndex& parent) const {
  return states_ && !parent.isValid() ? static_cast<int>(states_->columns.size()) : 0;
}

const CollectiveMatrix::States::Cell& CollectiveMatrix::cellAt(const QModelIndex& index) const {
  return states_->rows.at(static_cast<std::size_t>(index.row()))
      .cells.at(static_cast<std::size_t>(index.column()));
}

QString CollectiveMatrix::textOf(const QModelIndex& index) const {
  const States::Cell& cell = cellAt(index);
  const States::Column& column = states_->columns.at(static_cast<std::size_t>(index.column()));
  QString text = tr("%1, %2: %3")
                     .arg(qtext(states_->rows.at(static_cast<std::size_t>(index.row())).name),
                          collectiveOf(column),
                          wordOf(cell.state));
  if (cell.startNs)
    text += tr("; came %1 after the first").arg(formatDuration(*cell.startNs - column.firstNs));
  if (cell.durNs)
    text += tr(", took %1").arg(formatDuration(*cell.durNs));
  return text;
}

QVariant CollectiveMatrix::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !states_)
    return {};
  const State state = cellAt(index).state;
  switch (role) {
    case Qt::DisplayRole:
      return signOf(state);
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole:
      return textOf(index);
    case Qt::BackgroundRole:
      return colorOf(state);
    case Qt::ForegroundRole:
      return QColor(state == State::NotEntered ? Qt::white : Qt::black);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue(Qt::Alignment(Qt::AlignCenter));
    default:
      return {};
  }
}

QVariant CollectiveMatrix::headerData(int section, Qt::Orientation orientation, int role) const {
  if (!states_ || section < 0)
    return {};
  const auto at = static_cast<std::size_t>(section);
  if (orientation == Qt::Vertical)
    return role == Qt::DisplayRole && at < states_->rows.size()
               ? QVariant(qtext(states_->rows[at].name))
               : QVariant();
  if (at >= states_->columns.size())
    return {};
  if (role == Qt::DisplayRole)
    return QString(qtext(states_->columns[at].op) + u'\n' +
                   QString::number(states_->columns[at].seq));
  return role == Qt::ToolTipRole ? QVariant(collectiveOf(states_->columns[at])) : QVariant();
}

std::optional<Place> CollectiveMatrix::placeOf(const QModelIndex& index) const {
  if (!index.isValid() || !states_)
    return {};
  const States::Cell& cell = cellAt(index);
  if (!cell.startNs || !cell.sliceId)
    return {};
  Place place;
  place.span =
      Span{*cell.startNs, *cell.startNs + std::max<std::int64_t>(cell.durNs.value_or(kOpenNs), 1)};
  place.event = EventRef{Table::Slice, *cell.sliceId};
  place.rank = states_->rows.at(static_cast<std::size_t>(index.row())).rank;
  return place;
}

}  // namespace sonde::gui
