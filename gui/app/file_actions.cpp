#include "gui/app/file_actions.h"

#include "analysis/engine/trim/trim.h"
#include "gui/app/main_window.h"
#include "gui/app/session.h"
#include "gui/trace/qtext.h"
#include "gui/views/panel.h"
#include "gui/views/record/record_dialog.h"
#include "gui/views/window/welcome_page.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QPainter>
#include <QStatusBar>
#include <QSvgGenerator>

namespace sonde::gui {
namespace {

constexpr int kMessageMs = 10'000;

// Installed with Sonde; empty: it is not there.
QString examplePath() {
  const QString path =
      QCoreApplication::applicationDirPath() + QStringLiteral("/../share/sonde/example.sonde");
  return QFileInfo::exists(path) ? QFileInfo(path).canonicalFilePath() : QString();
}

bool drawSvg(QWidget& widget, const QString& path) {
  QSvgGenerator generator;
  generator.setFileName(path);
  generator.setSize(widget.size());
  generator.setViewBox(widget.rect());
  generator.setTitle(QStringLiteral("Sonde"));
  QPainter painter;
  if (!painter.begin(&generator))
    return false;
  widget.render(&painter);
  painter.end();
  return QFileInfo(path).size() > 0;
}

}  // namespace

FileActions::FileActions(MainWindow& window) : QObject(&window), window_(window) {}

void FileActions::buildWelcome() {
  welcome_ = new WelcomePage;
  welcome_->setExample(examplePath());
  window_.view(QStringLiteral("overview"))->setFirstPage(welcome_);
  connect(welcome_, &WelcomePage::chooseWanted, this, &FileActions::choose);
  connect(welcome_, &WelcomePage::recordWanted, this, &FileActions::record);
  connect(welcome_, &WelcomePage::openWanted, &window_, &MainWindow::open);
  connect(&window_.session(), &Session::recentChanged, this, [this] {
    welcome_->showRecent(window_.session().recent());
  });
}

void FileActions::choose() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      &window_,
      tr("Open traces"),
      {},
      tr("Traces (*.sonde *.part *.json *.json.gz *.sqlite *.et);;All files (*)"));
  if (!paths.isEmpty())
    window_.open(paths);
}

RecordDialog& FileActions::recorder() {
  if (recorder_ == nullptr) {
    recorder_ = new RecordDialog(&window_);
    connect(recorder_, &RecordDialog::openWanted, &window_, [this](const QString& trace) {
      window_.open({trace});
    });
  }
  return *recorder_;
}

void FileActions::record() {
  recorder().show();
  recorder().raise();
}

void FileActions::savePicture() {
  QWidget& view = window_.viewInFront();
  const QString path = QFileDialog::getSaveFileName(&window_,
                                                    tr("Save the view as a picture"),
                                                    window_.wordInFront() + QLatin1String(".png"),
                                                    tr("Pictures (*.png *.svg)"));
  if (path.isEmpty())
    return;
  const QString fault = drawWidget(view, path);
  window_.statusBar()->showMessage(fault.isEmpty() ? tr("Saved %1").arg(path) : fault, kMessageMs);
}

void FileActions::saveSpan() {
  const std::optional<Area> area = window_.models().view.area();
  if (!area) {
    window_.statusBar()->showMessage(tr("Select a span in the timeline first: drag, or R"),
                                     kMessageMs);
    return;
  }
  const QString path = QFileDialog::getSaveFileName(&window_,
                                                    tr("Save the selected span as a trace"),
                                                    QStringLiteral("part.sonde"),
                                                    tr("Sonde traces (*.sonde)"));
  // Meanwhile another trace may have been opened.
  if (!path.isEmpty() && window_.models().view.area() == area)
    writeSpan(area->span, path);
}

void FileActions::writeSpan(const Span& span, const QString& path) {
  const Skeleton& skeleton = window_.models().document.skeleton();
  engine::trim::TrimOptions options;
  options.input = skeleton.file.toStdString();
  options.output = path.toStdString();
  options.overwrite = true;
  options.time =
      engine::trim::KeptTime{span.beginNs - skeleton.originNs, span.endNs - skeleton.originNs};
  window_.statusBar()->showMessage(tr("Writing %1…").arg(path));
  window_.models().analyses.ask(
      *this,
      [options](const store::Database&) { return engine::trim::trim(options); },
      [this, path](const Result<void>& written) {
        window_.statusBar()->showMessage(
            written ? tr("Saved %1").arg(path) : qtext(written.error().message), kMessageMs);
      });
}

QString drawWidget(QWidget& widget, const QString& path) {
  const bool isSvg = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
  const bool isWritten = isSvg ? drawSvg(widget, path) : widget.grab().save(path, "PNG");
  return isWritten ? QString()
                   : FileActions::tr("%1 could not be written: choose another folder").arg(path);
}

}  // namespace sonde::gui
