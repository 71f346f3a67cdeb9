#include "gui/trace/process_text.h"

#include "gui/trace/time_format.h"

#include <QFileInfo>
#include <QRegularExpression>

namespace sonde::gui {
namespace {

QString withoutFolders(const QString& word) {
  const QString name = word.startsWith(QLatin1Char('/')) ? QFileInfo(word).fileName() : QString();
  return name.isEmpty() ? word : name;
}

// Removes the folders of the program and of the first script; other paths are the command's
// subject.
QString shortCommand(const QString& command) {
  static const QRegularExpression kInterpreter(QStringLiteral("^(python[0-9.]*|(ba|da|z)?sh)$"));
  QStringList words = command.split(QLatin1Char(' '));
  words.front() = withoutFolders(words.front());
  const bool interpreter = kInterpreter.match(words.front()).hasMatch();
  for (int at = 1; at < words.size(); ++at) {
    QString& word = words[at];
    const bool script = word.endsWith(QLatin1String(".py")) || word.endsWith(QLatin1String(".sh"));
    if (script || (interpreter && at == 1)) {
      word = withoutFolders(word);
      if (script)
        break;
    }
  }
  return words.join(QLatin1Char(' '));
}

}  // namespace

QString titleOf(const ProcessInfo& process) {
  QStringList parts;
  if (process.rank)
    parts << QStringLiteral("rank %1").arg(*process.rank);
  if (process.childOf)
    parts << QStringLiteral("child of %1").arg(*process.childOf);
  if (!process.command.isEmpty())
    parts << shortCommand(process.command).simplified();
  parts << QStringLiteral("pid %1").arg(process.pid);
  return parts.join(QStringLiteral("  ·  "));
}

QString shortTitleOf(const ProcessInfo& process) {
  QStringList parts;
  if (process.rank)
    parts << QStringLiteral("rank %1").arg(*process.rank);
  if (!process.rank || process.childOf)
    parts << QStringLiteral("pid %1").arg(process.pid);
  return parts.join(QStringLiteral("  ·  "));
}

QString endingOf(const ProcessInfo& process) {
  if (process.exitSignal)
    return QStringLiteral("killed by signal %1").arg(*process.exitSignal);
  if (process.exitStatus)
    return QStringLiteral("exited with status %1").arg(*process.exitStatus);
  if (process.state == QLatin1String("running"))
    return QStringLiteral("still ran when recording ended");
  if (process.state == QLatin1String("replaced"))
    return QStringLiteral("ran another program in its place");
  return process.state == QLatin1String("exited") ? QStringLiteral("exited")
                                                  : QStringLiteral("ended with an unknown status");
}

bool failed(const ProcessInfo& process) {
  return process.exitSignal || process.exitStatus.value_or(0) != 0;
}

DetailsSection detailsOf(const ProcessInfo& process, std::int64_t originNs) {
  DetailsSection section{QStringLiteral("Process"), {}};
  const auto add = [&](const char* name, const QString& value) {
    section.rows.emplace_back(QString::fromLatin1(name), value);
  };
  if (process.rank)
    add("Rank", QString::number(*process.rank));
  add("Pid", QString::number(process.pid));
  if (!process.command.isEmpty())
    add("Command", process.command);
  add("Host", process.host);
  if (process.startNs)
    add("Began", formatTime(*process.startNs - originNs, 1));
  if (process.startNs && process.endNs)
    add("Lived", formatDuration(*process.endNs - *process.startNs));
  add("End", endingOf(process));
  return section;
}

}  // namespace sonde::gui
