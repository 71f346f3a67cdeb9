#include "gui/models/kernel_label.h"

namespace sonde::gui {

QString kernelLabel(const QString& name) {
  static const QString kAnonymous = QStringLiteral("(anonymous namespace)::");
  QString text = name;
  text.remove(kAnonymous);
  if (text.startsWith(QLatin1String("void ")))
    text.remove(0, 5);
  // The function's own name ends at its template arguments or parameters.
  qsizetype end = 0;
  while (end < text.size() && text[end] != u'<' && text[end] != u'(')
    ++end;
  const qsizetype scope = text.left(end).lastIndexOf(QLatin1String("::"));
  qsizetype depth = 0;
  qsizetype stop = end;
  while (stop < text.size() && (depth > 0 || text[stop] != u'(')) {
    depth += text[stop] == u'<' ? 1 : text[stop] == u'>' ? -1 : 0;
    ++stop;
  }
  const qsizetype begin = scope < 0 ? 0 : scope + 2;
  const QString label = text.mid(begin, stop - begin);
  return label.isEmpty() ? name : label;
}

}  // namespace sonde::gui
