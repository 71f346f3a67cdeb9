#include "gui/app/file_actions.h"

#include "analysis/engine/trim/trim.h"
#include "gui/app/main_window.h"
#include "gui/app/session.h"
#include "gui/trace/qtext.h"
#include "gui/views/panel.h"
#include "gui/views/record/record_dialog.h"
#include "gui/views/window/welcome_page.h"

#include <QAbstractButton>
#include <QBuffer>
#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QFuture>
#include <QMessageBox>
#include <QPainter>
#include <QPromise>
#include <QPushButton>
#include <QSaveFile>
#include <QStatusBar>
#include <QSvgGenerator>
#include <QThreadPool>

#include <memory>

namespace sonde::gui {
namespace {

// Installed with Sonde; empty: it is not there.
QString examplePath() {
  const QString path =
      QCoreApplication::applicationDirPath() + QStringLiteral("/../share/sonde/example.sonde");
  return QFileInfo::exists(path) ? QFileInfo(path).canonicalFilePath() : QString();
}

void drawSvg(QWidget& widget, QIODevice& file) {
  QSvgGenerator generator;
  generator.setOutputDevice(&file);
  generator.setSize(widget.size());
  generator.setViewBox(widget.rect());
  generator.setTitle(QStringLiteral("Sonde"));
  QPainter painter(&generator);
  widget.render(&painter);
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
    connectRecorder();
  }
  return *recorder_;
}

void FileActions::connectRecorder() {
  connect(recorder_, &RecordDialog::started, this, [this] {
    shown_ = window_.models().document.paths();
    isFollowed_ = false;
  });
  connect(recorder_, &RecordDialog::grown, this, [this](const QString& unfinished) {
    // Another trace would interrupt the views, and long analyses would never end.
    if (window_.models().settled())
      showRecording(unfinished);
  });
  connect(recorder_, &RecordDialog::recorded, this, &FileActions::showRecording);
  connect(recorder_, &RecordDialog::openWanted, &window_, [this](const QString& trace) {
    window_.open({trace});
  });
}

void FileActions::showRecording(const QString& trace) {
  TraceDocument& document = window_.models().document;
  if (document.paths() != shown_)
    return;
  shown_ = QStringList(trace);
  if (isFollowed_ && document.ready())
    document.follow(shown_);
  else
    window_.open(shown_);
  isFollowed_ = true;
}

bool FileActions::mayClose() {
  if (recorder_ == nullptr || !recorder_->isRunning())
    return true;
  QMessageBox question(QMessageBox::Question,
                       tr("A training is being recorded"),
                       tr("Closing the window ends the training. End it?"),
                       QMessageBox::NoButton,
                       &window_);
  question.setInformativeText(tr("The trace of what was recorded until then is completed first."));
  const QAbstractButton* const end =
      question.addButton(tr("&End the training and close"), QMessageBox::DestructiveRole);
  question.setDefaultButton(question.addButton(tr("&Go on"), QMessageBox::RejectRole));
  question.exec();
  if (question.clickedButton() != end)
    return false;
  if (!recorder_->isRunning())
    return true;
  connect(recorder_, &RecordDialog::ended, &window_, &QWidget::close);
  recorder_->stop();
  window_.statusBar()->showMessage(tr("The trace is completed; the window closes then"));
  return false;
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
  window_.tell(fault.isEmpty() ? tr("Saved %1").arg(path) : fault);
}

void FileActions::saveSpan() {
  const std::optional<Area> area = window_.models().view.area();
  if (!area) {
    window_.tell(tr("Select a span in the timeline first: drag, or R"));
    return;
  }
  QString path = QFileDialog::getSaveFileName(&window_,
                                              tr("Save the selected span as a trace"),
                                              QStringLiteral("part.sonde"),
                                              tr("Sonde traces (*.sonde)"));
  if (!path.isEmpty() && QFileInfo(path).suffix().isEmpty())
    path += QLatin1String(".sonde");
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
  // Not through Analyses: it goes on when another trace is opened.
  const auto writing = std::make_shared<QPromise<Result<void>>>();
  writing->future().then(this, [this, path](const Result<void>& written) {
    window_.tell(written ? tr("Saved %1").arg(path) : qtext(written.error().message));
  });
  QThreadPool::globalInstance()->start([writing, options] {
    writing->start();
    writing->addResult(engine::trim::trim(options));
    writing->finish();
  });
}

QString drawWidget(QWidget& widget, const QString& path) {
  QBuffer drawn;
  drawn.open(QIODevice::WriteOnly);
  if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive))
    drawSvg(widget, drawn);
  else
    widget.grab().save(&drawn, "PNG");
  QSaveFile file(path);  // a full disk leaves no part of a picture
  if (file.open(QIODevice::WriteOnly) && file.write(drawn.data()) == drawn.size() && file.commit())
    return {};
  return FileActions::tr("%1 could not be written (%2): choose another folder")
      .arg(path, file.errorString());
}

}  // namespace sonde::gui
