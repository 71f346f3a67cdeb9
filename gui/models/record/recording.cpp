#include "gui/models/record/recording.h"

#include "gui/trace/sonde_program.h"

#include <QFileInfo>

#include <wordexp.h>

#include <csignal>

namespace sonde::gui {
namespace {

constexpr int kEndMs = 30'000;  // for the recorder to complete its trace

// As a shell divides and expands a simple command.
Result<QStringList> wordsOf(const QString& command) {
  wordexp_t expanded = {};
  const int status = ::wordexp(command.toUtf8().constData(), &expanded, WRDE_NOCMD);
  if (status != 0)
    return Error{ErrorCode::InvalidArgument,
                 "the command is more than one program with arguments: put quotes around special "
                 "letters, or write sh -c '…'"};
  QStringList words;
  for (std::size_t at = 0; at < expanded.we_wordc; ++at)
    words << QString::fromUtf8(expanded.we_wordv[at]);
  ::wordfree(&expanded);
  return words;
}

}  // namespace

const std::vector<OptionalSource>& optionalSources() {
  static const std::vector<OptionalSource> kSources = {
      {"stack", "which code takes the processors' time: stacks of Python, C++ and the kernel"},
      {"python", "functions and modules of Python"},
      {"io", "reads and writes of files"},
      {"sync", "threads that wait for each other: locks, queues, processes"},
      {"memory", "allocations, by operation and code"},
      {"tensor", "statistics and histograms of tensors"}};
  return kSources;
}

Result<QStringList> RecordingPlan::words() const {
  const auto wrong = [](const char* message) { return Error{ErrorCode::InvalidArgument, message}; };
  SONDE_TRY_ASSIGN(const QStringList job, wordsOf(command));
  if (job.isEmpty())
    return wrong("give the command that starts the training, such as python3 train.py");
  if (output.trimmed().isEmpty())
    return wrong("give a file for the trace");
  QStringList words{"run", "-o", QFileInfo(output.trimmed()).absoluteFilePath()};
  if (replaces)
    words << "-f";
  if (!sources.isEmpty())
    words << "--sources" << QStringLiteral("+") + sources.join(QStringLiteral(",+"));
  if (!torchOperators.isEmpty())
    words << "--torch-operators" << torchOperators;
  if (!rules.trimmed().isEmpty()) {
    words << "--rules" << QFileInfo(rules.trimmed()).absoluteFilePath();
    if (stopsOnFinding)
      words << "--on-fire"
            << "stop";
  }
  return words + QStringList("--") + job;
}

Recording::Recording(QObject* parent) : QObject(parent) {
  program_.setProcessChannelMode(QProcess::MergedChannels);
  connect(&program_, &QProcess::readyRead, this, [this] {
    const QString text = QString::fromUtf8(program_.readAll());
    const QStringList lines = text.split(u'\n', Qt::SkipEmptyParts);
    if (!lines.isEmpty())
      last_ = lines.last();
    emit printed(text);
  });
  connect(&program_, &QProcess::finished, this, &Recording::end);
  connect(&program_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      emit ended({}, program_.errorString());
  });
}

Recording::~Recording() {
  program_.disconnect(this);
  if (!isRunning())
    return;
  stop();
  program_.waitForFinished(kEndMs);
}

Result<void> Recording::start(const RecordingPlan& plan) {
  SONDE_TRY_ASSIGN(const QStringList words, plan.words());
  const QString sonde = sondeProgram();
  if (sonde.isEmpty())
    return notFound("the program sonde is neither beside sonde-gui nor in PATH: install it");
  output_ = QFileInfo(plan.output.trimmed()).absoluteFilePath();
  if (!plan.folder.isEmpty() && !QFileInfo(plan.folder).isDir())
    return Error{ErrorCode::InvalidArgument,
                 "there is no folder " + plan.folder.toStdString() + ": check its name"};
  if (!plan.replaces && QFileInfo::exists(output_))
    return Error{ErrorCode::InvalidArgument,
                 output_.toStdString() + " exists: give another name, or allow to replace it"};
  before_ = QFileInfo(output_).lastModified();
  last_.clear();
  program_.setWorkingDirectory(plan.folder);
  program_.setStandardInputFile(QProcess::nullDevice());
  program_.start(sonde, words);
  return {};
}

void Recording::stop() {
  if (isRunning() && program_.processId() > 0)
    ::kill(static_cast<pid_t>(program_.processId()), SIGINT);
}

QString Recording::trace() const {
  const QString unfinished = output_ + QStringLiteral(".part");
  if (isRunning())
    return QFileInfo::exists(unfinished) ? unfinished : QString();
  return output_;
}

void Recording::end() {
  const QFileInfo written(output_);
  const bool isNew = written.size() > 0 && written.lastModified() != before_;
  QString message;
  if (program_.exitStatus() != QProcess::NormalExit || program_.exitCode() != 0)
    message = tr("The job ended with status %1. ").arg(program_.exitCode());
  if (!isNew)
    message += last_.isEmpty() ? tr("There is no trace.") : last_;
  emit ended(isNew ? output_ : QString(), message);
}

}  // namespace sonde::gui
