#include "gui/trace/trace_opening.h"

#include "analysis/engine/merge/merge.h"
#include "analysis/finalise/finaliser.h"
#include "analysis/store/trace_file.h"

#include <filesystem>
#include <string>
#include <utility>

namespace sonde::gui {
namespace {

std::filesystem::path nativePath(const QString& path) {
  return path.toStdString();
}

Result<std::unique_ptr<QTemporaryDir>> temporaryFolder() {
  auto folder = std::make_unique<QTemporaryDir>();
  if (!folder->isValid())
    return Error{ErrorCode::Io,
                 "cannot create a temporary folder (" + folder->errorString().toStdString() +
                     "): set TMPDIR to a folder with room for the trace"};
  return folder;
}

std::string quoted(std::string text) {
  for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 2))
    text.insert(at, 1, '\'');
  return "'" + text + "'";
}

// Makes a finished copy of a recording's current state; the recording may continue.
Result<OpenedTrace> openSnapshot(store::Database recording, const OpeningWatch& watch) {
  SONDE_TRY_ASSIGN(auto folder, temporaryFolder());
  const std::filesystem::path copy = nativePath(folder->filePath("snapshot.sonde"));
  auto scratch = store::temporaryTrace(nativePath(folder->path()), copy);
  recording.stopWhen(watch.isCancelled);
  SONDE_TRY(recording.exec("VACUUM INTO " + quoted(copy.string())));
  SONDE_TRY_ASSIGN(auto writable, store::reopenTrace(copy));
  writable.stopWhen(watch.isCancelled);
  SONDE_TRY(store::finalise(std::move(writable), watch.progress));
  SONDE_TRY_ASSIGN(auto database, store::openTrace(copy));
  return OpenedTrace{std::move(scratch), std::move(folder), std::move(database), true};
}

Result<OpenedTrace> openOne(const QString& path, const OpeningWatch& watch) {
  SONDE_TRY_ASSIGN(auto database, store::openTrace(nativePath(path)));
  SONDE_TRY_ASSIGN(const bool finished, store::isFinished(database));
  if (!finished)
    return openSnapshot(std::move(database), watch);
  return OpenedTrace{nullptr, nullptr, std::move(database), false};
}

Result<OpenedTrace> openJob(const QStringList& paths, const OpeningWatch& watch) {
  SONDE_TRY_ASSIGN(auto folder, temporaryFolder());
  engine::merge::MergeOptions options;
  options.progress = watch.progress;
  options.isToStop = watch.isCancelled;
  for (const QString& path : paths)
    options.inputs.push_back(nativePath(path));
  options.output = nativePath(folder->filePath("job.sonde"));
  auto scratch = store::temporaryTrace(nativePath(folder->path()), options.output);
  SONDE_TRY(engine::merge::merge(options));
  SONDE_TRY_ASSIGN(auto database, store::openTrace(options.output));
  return OpenedTrace{std::move(scratch), std::move(folder), std::move(database), false};
}

// Imports `files`, and merges them with `traces`, if there are any.
Result<OpenedTrace> openForeign(const QStringList& files,
                                const QStringList& traces,
                                const OpeningWatch& watch) {
  SONDE_TRY_ASSIGN(auto folder, temporaryFolder());
  const QString output = folder->filePath("imported.sonde");
  auto scratch = store::temporaryTrace(nativePath(folder->path()), nativePath(output));
  SONDE_TRY(importFiles(files, output, watch));
  if (!traces.isEmpty())
    return openJob(QStringList(output) + traces, watch);
  SONDE_TRY_ASSIGN(auto database, store::openTrace(nativePath(output)));
  return OpenedTrace{std::move(scratch), std::move(folder), std::move(database), false};
}

}  // namespace

Result<OpenedTrace> openForViewing(const QStringList& paths, const OpeningWatch& watch) {
  QStringList foreign;
  QStringList traces;
  for (const QString& path : paths)
    (isForeign(path) ? foreign : traces) << path;
  if (!foreign.isEmpty())
    return openForeign(foreign, traces, watch);
  if (paths.size() > 1)
    return openJob(paths, watch);
  return openOne(paths.front(), watch);
}

}  // namespace sonde::gui
