#include "gui/trace/trace_import.h"

#include "analysis/store/database.h"
#include "gui/trace/sonde_program.h"

#include <QFile>
#include <QFileInfo>
#include <QProcess>

namespace sonde::gui {
namespace {

constexpr int kPollMs = 50;

bool isSqlite(const QString& path) {
  constexpr QByteArrayView kMagic("SQLite format 3");
  QFile file(path);
  return file.open(QIODevice::ReadOnly) && file.read(kMagic.size()) == kMagic;
}

// A report that `nsys export --type sqlite` wrote.
bool isNsightExport(const QString& path) {
  const auto database = store::Database::open(path.toStdString(), store::Access::ReadOnly);
  return database && database->queryInteger("SELECT 1 FROM sqlite_schema WHERE name = 'StringIds'");
}

// Reads the lines that the program has written: its progress, and its messages.
class Messages {
 public:
  explicit Messages(const Progress& progress) : progress_(progress) {}

  void read(QProcess& program) {
    text_ += program.readAllStandardError();
    for (auto end = text_.indexOf('\n'); end >= 0; end = text_.indexOf('\n')) {
      readLine(QString::fromUtf8(text_.left(end)));
      text_.remove(0, end + 1);
    }
  }
  [[nodiscard]] const QString& last() const { return last_; }

 private:
  // "42% reading t.json", or a message.
  void readLine(const QString& line) {
    const auto percent = line.indexOf(u'%');
    bool isNumber = false;
    const int share = line.left(percent).toInt(&isNumber);
    if (percent > 0 && isNumber)
      progress_(line.mid(percent + 2).toStdString(), share / 100.0);
    else
      last_ = line;
  }

  const Progress& progress_;
  QByteArray text_;
  QString last_;
};

}  // namespace

bool isForeign(const QString& path) {
  const QFileInfo file(path);
  if (!file.isFile() || file.size() == 0)
    return false;
  return !isSqlite(path) || isNsightExport(path);
}

Result<void> importFiles(const QStringList& files,
                         const QString& output,
                         const OpeningWatch& watch) {
  const QString path = sondeProgram();
  if (path.isEmpty())
    return notFound("'" + files.front().toStdString() +
                    "' is a file of another profiler, which the program sonde reads: install it "
                    "beside sonde-gui");
  QProcess program;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("SONDE_PROGRESS"), QStringLiteral("lines"));
  program.setProcessEnvironment(environment);
  program.setStandardOutputFile(QProcess::nullDevice());
  program.start(path, QStringList{QStringLiteral("import"), QStringLiteral("-o"), output} + files);
  Messages messages(watch.progress);
  while (program.state() != QProcess::NotRunning) {
    program.waitForFinished(kPollMs);
    messages.read(program);
    if (watch.isCancelled()) {
      program.terminate();  // it removes its unfinished output
      program.waitForFinished();
      return Error{ErrorCode::Io, "cancelled"};
    }
  }
  messages.read(program);
  if (program.exitStatus() == QProcess::NormalExit && program.exitCode() == 0)
    return {};
  QString message = messages.last();
  message.remove(QStringLiteral("sonde import: "));
  return Error{ErrorCode::Unsupported,
               "neither a Sonde trace nor a file that sonde import reads: " +
                   (message.isEmpty() ? program.errorString() : message).toStdString()};
}

}  // namespace sonde::gui
