#include "gui/models/focus.h"

#include <QStringList>

#include <utility>

namespace sonde::gui {

void Focus::set(Part part) {
  if (part == part_)
    return;
  part_ = std::move(part);
  emit changed();
}

QString textOf(const Focus::Part& part) {
  QStringList limits;
  if (part.rank)
    limits << Focus::tr("rank %1").arg(*part.rank);
  if (!part.operation.isEmpty())
    limits << Focus::tr("in %1").arg(part.operation);
  if (!part.name.isEmpty())
    limits << Focus::tr("“%1”").arg(part.name);
  return limits.join(QStringLiteral(" · "));
}

}  // namespace sonde::gui
