#include "gui/trace/sonde_program.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QStandardPaths>

namespace sonde::gui {

QString sondeProgram() {
  const QString beside = QCoreApplication::applicationDirPath() + QStringLiteral("/sonde");
  return QFileInfo(beside).isExecutable() ? beside
                                          : QStandardPaths::findExecutable(QStringLiteral("sonde"));
}

}  // namespace sonde::gui
