#include "gui/views/window/welcome_page.h"

#include <QCommandLinkButton>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLayoutItem>
#include <QVBoxLayout>

namespace sonde::gui {
namespace {

constexpr int kMostRecent = 6;
constexpr int kColumnWidth = 420;

}  // namespace

WelcomePage::WelcomePage(QWidget* parent) : QWidget(parent) {
  auto* middle = new QHBoxLayout(this);
  auto* page = new QVBoxLayout;
  middle->addStretch(1);
  middle->addLayout(page);
  middle->addStretch(1);
  page->addStretch(1);
  auto* title = new QLabel(tr("Sonde"));
  QFont large = title->font();
  large.setPointSizeF(large.pointSizeF() * 2);
  large.setBold(true);
  title->setFont(large);
  page->addWidget(title);
  page->addWidget(new QLabel(
      tr("See where the time of a training goes, why, and how long it would take otherwise.")));
  page->addSpacing(16);
  auto* columns = new QHBoxLayout;
  page->addLayout(columns);
  page->addStretch(2);
  begin_ = new QVBoxLayout;
  recent_ = new QVBoxLayout;
  for (QVBoxLayout* column : {begin_, recent_}) {
    auto* whole = new QWidget;
    whole->setFixedWidth(kColumnWidth);
    whole->setLayout(column);
    columns->addWidget(whole, 0, Qt::AlignTop);
  }
  auto* open = new QCommandLinkButton(
      tr("Open a trace"), tr("of Sonde, torch.profiler, Nsight Systems or Chakra (Ctrl + O)"));
  auto* record = new QCommandLinkButton(tr("Record a training"),
                                        tr("Run a command and see what it did (Ctrl + R)"));
  begin_->addWidget(open);
  begin_->addWidget(record);
  connect(open, &QCommandLinkButton::clicked, this, &WelcomePage::chooseWanted);
  connect(record, &QCommandLinkButton::clicked, this, &WelcomePage::recordWanted);
}

void WelcomePage::setExample(const QString& path) {
  if (path.isEmpty())
    return;
  auto* example = new QCommandLinkButton(
      tr("Look at an example"), tr("Two ranks of a small PyTorch training that could be faster"));
  begin_->addWidget(example);
  connect(example, &QCommandLinkButton::clicked, this, [this, path] {
    emit openWanted(QStringList(path));
  });
}

void WelcomePage::showRecent(const QList<QStringList>& jobs) {
  while (QLayoutItem* item = recent_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const QStringList& paths : jobs.mid(0, kMostRecent)) {
    QStringList names;
    for (const QString& path : paths)
      names << QFileInfo(path).fileName();
    auto* link = new QCommandLinkButton(
        fontMetrics().elidedText(
            names.join(QStringLiteral(", ")), Qt::ElideRight, kColumnWidth - 60),
        fontMetrics().elidedText(
            QFileInfo(paths.front()).absolutePath(), Qt::ElideMiddle, kColumnWidth - 60));
    recent_->addWidget(link);
    connect(link, &QCommandLinkButton::clicked, this, [this, paths] { emit openWanted(paths); });
  }
}

}  // namespace sonde::gui
