#include "gui/views/record/record_dialog.h"

#include "gui/trace/qtext.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFontDatabase>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace sonde::gui {
namespace {

constexpr int kFollowMs = 10'000;
constexpr int kMostLines = 5'000;

}  // namespace

RecordDialog::RecordDialog(QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Record"));
  resize(820, 680);
  auto* layout = new QVBoxLayout(this);
  form_ = buildForm();
  printed_ = new QPlainTextEdit;
  printed_->setReadOnly(true);
  printed_->setMaximumBlockCount(kMostLines);
  printed_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  printed_->setPlaceholderText(tr("What the training and the live rules print"));
  printed_->setAccessibleName(tr("Output of the job"));
  state_ = new QLabel;
  state_->setWordWrap(true);
  state_->setTextFormat(Qt::PlainText);
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  follows_ = new QCheckBox(tr("Show the recording in the window while it goes on"));
  follows_->setObjectName(QStringLiteral("follows"));
  start_ = new QPushButton(tr("&Record"));
  stop_ = new QPushButton(tr("&End the job"));
  show_ = new QPushButton(tr("&Show the trace"));
  show_->setObjectName(QStringLiteral("show"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(state_, 1);
  buttons->addWidget(show_);
  buttons->addWidget(stop_);
  buttons->addWidget(start_);
  auto* ranks = new QLabel(
      tr("This records one command on this machine. For a job of several ranks, put sonde run "
         "before the program in the launcher, so that each rank is recorded:\n"
         "    torchrun --nproc_per_node 2 --no_python sonde run -o ranks/ -- python3 train.py\n"
         "Then open ranks/*.sonde together."));
  ranks->setTextFormat(Qt::PlainText);
  ranks->setTextInteractionFlags(Qt::TextSelectableByMouse);
  ranks->setWordWrap(true);
  layout->addWidget(form_);
  layout->addWidget(ranks);
  layout->addWidget(printed_, 1);
  layout->addWidget(follows_);
  layout->addLayout(buttons);
  start_->setDefault(true);
  follow_.setInterval(kFollowMs);
  connect(start_, &QPushButton::clicked, this, &RecordDialog::start);
  connect(stop_, &QPushButton::clicked, &recording_, &Recording::stop);
  connect(&recording_, &Recording::printed, this, &RecordDialog::append);
  connect(&recording_, &Recording::ended, this, &RecordDialog::end);
  connect(&follow_, &QTimer::timeout, this, &RecordDialog::tellGrowth);
  connect(follows_, &QCheckBox::toggled, this, &RecordDialog::tellGrowth);
  connect(show_, &QPushButton::clicked, this, [this] { emit openWanted(recording_.trace()); });
  showRunning();
}

QWidget* RecordDialog::buildForm() {
  auto* form = new QWidget;
  auto* rows = new QFormLayout(form);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  command_ = new QLineEdit;
  command_->setPlaceholderText(tr("python3 train.py --epochs 2"));
  folder_ = new QLineEdit;
  folder_->setPlaceholderText(tr("the present folder"));
  output_ = new QLineEdit(QStringLiteral("run.sonde"));
  rules_ = new QLineEdit;
  rules_->setPlaceholderText(tr("a file with rules that judge the run while it is recorded"));
  rows->addRow(tr("&Command"), command_);
  rows->addRow(tr("&Folder"), folder_);
  rows->addRow(tr("&Trace"), fileLine(output_, true));
  replaces_ = new QCheckBox(tr("replace the trace if it exists"));
  rows->addRow(QString(), replaces_);
  auto* also = new QWidget;
  auto* column = new QVBoxLayout(also);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  for (const OptionalSource& each : optionalSources()) {
    sources_.push_back(
        new QCheckBox(QStringLiteral("%1: %2").arg(QLatin1String(each.name), tr(each.purpose))));
    column->addWidget(sources_.back());
  }
  rows->addRow(tr("Record also"), also);
  operators_ = new QComboBox;
  operators_->addItem(tr("not recorded"), QString());
  operators_->addItem(tr("by name"), QStringLiteral("names"));
  operators_->addItem(tr("with the shapes of their inputs"), QStringLiteral("shapes"));
  rows->addRow(tr("&Operators of PyTorch"), operators_);
  rows->addRow(tr("R&ules"), fileLine(rules_, false));
  stops_ = new QCheckBox(tr("a finding of severity error ends the job"));
  rows->addRow(QString(), stops_);
  return form;
}

QWidget* RecordDialog::fileLine(QLineEdit* edit, bool isOutput) {
  auto* line = new QWidget;
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* choose = new QPushButton(tr("Choose…"));
  choose->setAutoDefault(false);
  layout->addWidget(edit, 1);
  layout->addWidget(choose);
  line->setFocusProxy(edit);
  connect(choose, &QPushButton::clicked, this, [this, edit, isOutput] {
    const QString path =
        isOutput
            ? QFileDialog::getSaveFileName(
                  this, tr("Trace"), edit->text(), tr("Sonde traces (*.sonde)"))
            : QFileDialog::getOpenFileName(this, tr("Rules"), edit->text(), tr("Rules (*.toml)"));
    if (!path.isEmpty())
      edit->setText(path);
  });
  return line;
}

RecordingPlan RecordDialog::plan() const {
  RecordingPlan plan;
  plan.command = command_->text();
  plan.folder = folder_->text();
  plan.output = output_->text();
  plan.torchOperators = operators_->currentData().toString();
  plan.rules = rules_->text();
  plan.stopsOnFinding = stops_->isChecked();
  plan.replaces = replaces_->isChecked();
  for (std::size_t at = 0; at < sources_.size(); ++at)
    if (sources_[at]->isChecked())
      plan.sources << QLatin1String(optionalSources()[at].name);
  return plan;
}

void RecordDialog::setPlan(const RecordingPlan& plan) {
  command_->setText(plan.command);
  folder_->setText(plan.folder);
  output_->setText(plan.output);
  operators_->setCurrentIndex(operators_->findData(plan.torchOperators));
  rules_->setText(plan.rules);
  stops_->setChecked(plan.stopsOnFinding);
  replaces_->setChecked(plan.replaces);
  for (std::size_t at = 0; at < sources_.size(); ++at)
    sources_[at]->setChecked(plan.sources.contains(QLatin1String(optionalSources()[at].name)));
}

QString RecordDialog::output() const {
  return printed_->toPlainText();
}

QString RecordDialog::state() const {
  return state_->text();
}

void RecordDialog::start() {
  printed_->clear();
  state_->clear();
  state_->setText(tr("The job runs, and is recorded."));
  follow_.start();
  if (const auto begun = recording_.start(plan()); !begun)
    end({}, qtext(begun.error().message));
  else
    emit started();
  showRunning();
}

void RecordDialog::tellGrowth() {
  if (follows_->isChecked() && recording_.isRunning() && !recording_.trace().isEmpty())
    emit grown(recording_.trace());
}

void RecordDialog::append(const QString& text) {
  printed_->moveCursor(QTextCursor::End);
  printed_->insertPlainText(text);
  printed_->moveCursor(QTextCursor::End);
}

void RecordDialog::end(const QString& trace, const QString& message) {
  follow_.stop();
  showRunning();
  state_->setText(trace.isEmpty() ? message
                                  : message + tr("The job has ended: its trace is %1.").arg(trace));
  show_->setEnabled(!trace.isEmpty());
  if (!trace.isEmpty())
    emit recorded(trace);
  emit ended();
}

void RecordDialog::showRunning() {
  const bool runs = recording_.isRunning();
  form_->setEnabled(!runs);
  start_->setEnabled(!runs);
  stop_->setEnabled(runs);
  show_->setEnabled(false);
}

}  // namespace sonde::gui
