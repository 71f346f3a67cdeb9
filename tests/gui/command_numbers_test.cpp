// The numbers of the window equal those that the command line prints as JSON, for real jobs.
#include "gui/views/breakdown/breakdown_view.h"
#include "gui/views/chart/bar_chart.h"
#include "gui/views/chart/line_chart.h"
#include "gui/views/overview/overview_view.h"
#include "gui/views/tables/tables_view.h"
#include "tests/gui/window_rig.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

#include <map>

namespace sonde::gui {
namespace {

// `QJsonValue::toInteger()` keeps all digits.
std::int64_t integerOf(const QJsonObject& object, const char* key) {
  return object.value(QLatin1String(key)).toInteger();
}

class CommandNumbersTest : public TimelineViewTest,
                           public ::testing::WithParamInterface<const char*> {
 protected:
  // Imports a file or a folder of files, and opens the job.
  void SetUp() override {
    const QString input = QStringLiteral(SONDE_REFERENCE_DATA "/") + QLatin1String(GetParam());
    QStringList files{input};
    if (QFileInfo(input).isDir()) {
      const QDir folder(input);
      files.clear();
      for (const QString& name : folder.entryList({"*.json.gz"}, QDir::Files, QDir::Name))
        files << folder.filePath(name);
    }
    ASSERT_EQ(run(QStringList{"import", "-o", file("job.sonde")} + files).exitCode, 0);
    window_.showView(QStringLiteral("overview"));
    open("job.sonde");
    settle();
  }

  struct Outcome {
    int exitCode = 0;
    QByteArray output;
  };
  static Outcome run(const QStringList& words) {
    QProcess sonde;
    sonde.start(QStringLiteral(SONDE_PROGRAM), words);
    EXPECT_TRUE(sonde.waitForFinished(200'000));
    return {sonde.exitCode(), sonde.readAllStandardOutput()};
  }
  [[nodiscard]] QJsonObject json(const QStringList& words) const {
    const Outcome outcome = run(words + QStringList{"--format", "json", file("job.sonde")});
    return QJsonDocument::fromJson(outcome.output).object();
  }
  void expectBreakdown(const QStringList& options);
  // Returns the options of the command for the selected span.
  QStringList selectMiddle();
  [[nodiscard]] OverviewView& overview() {
    return *qobject_cast<OverviewView*>(window_.view(QStringLiteral("overview")));
  }
};

TEST_P(CommandNumbersTest, OverviewHasTheReport) {
  ASSERT_EQ(overview().message(), "");
  const QJsonObject report = json({"report"});
  const QJsonArray operations = report["operations"].toArray();
  ASSERT_EQ(static_cast<qsizetype>(overview().operations().rows().size()), operations.size());
  for (qsizetype at = 0; at < operations.size(); ++at) {
    const QJsonObject expected = operations[at].toObject();
    const auto& values = overview().operations().rows()[static_cast<std::size_t>(at)].values;
    EXPECT_EQ(values[0].toString(), expected["name"].toString());
    EXPECT_EQ(values[3].toLongLong(), integerOf(expected, "count"));
    EXPECT_EQ(values[4].toLongLong(), integerOf(expected, "ns"));
    EXPECT_EQ(values[5].toDouble(), expected["share"].toDouble());
    EXPECT_EQ(values[6].toLongLong(), integerOf(expected, "p50_ns"));
    EXPECT_EQ(values[7].toLongLong(), integerOf(expected, "p95_ns"));
  }
  const QJsonArray causes = report["critical_path"].toObject()["causes"].toArray();
  ASSERT_EQ(static_cast<qsizetype>(overview().path().rows().size()), causes.size());
  for (qsizetype at = 0; at < causes.size(); ++at) {
    const QJsonObject expected = causes[at].toObject();
    const auto& values = overview().path().rows()[static_cast<std::size_t>(at)].values;
    EXPECT_EQ(values[0].toString(), expected["cause"].toString().replace(u'_', u' '));
    EXPECT_EQ(values[2].toLongLong(), integerOf(expected, "ns"));
    EXPECT_EQ(values[3].toDouble(), expected["share"].toDouble());
  }
}

TEST_P(CommandNumbersTest, BarsOfRanksHaveTheReport) {
  const QJsonArray ranks = json({"report"})["ranks"].toArray();
  const auto& bars = overview().times().data().bars;
  ASSERT_EQ(static_cast<qsizetype>(bars.size()), ranks.size());
  for (qsizetype at = 0; at < ranks.size(); ++at) {
    const QJsonObject expected = ranks[at].toObject();
    if (expected["compute_ns"].isNull())
      continue;
    const std::vector<double>& values = bars[static_cast<std::size_t>(at)].values;
    const char* const kKeys[] = {
        "compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_load_ns"};
    for (std::size_t part = 0; part < std::size(kKeys); ++part)
      EXPECT_EQ(values[part], static_cast<double>(integerOf(expected, kKeys[part]))) << kKeys[part];
    EXPECT_EQ(values[3] + values[4], static_cast<double>(integerOf(expected, "idle_ns")));
  }
}

TEST_P(CommandNumbersTest, IterationsHaveTheReport) {
  std::map<std::pair<double, double>, int> expected;  // number and ns, and how often
  for (const QJsonValue& each : json({"report"})["iterations"].toArray())
    ++expected[{each["number"].toDouble(), static_cast<double>(each["ns"].toInteger())}];
  std::map<std::pair<double, double>, int> drawn;
  for (const Series& series : overview().iterations().data().series)
    for (const ChartPoint& point : series.points)
      ++drawn[{point.x, point.y}];
  EXPECT_EQ(drawn, expected);
}

TEST_P(CommandNumbersTest, FindingsAreThoseOfCheck) {
  std::multiset<std::string> expected;
  for (const QJsonValue& each : json({"check"})["results"].toArray())
    if (each["verdict"] == QLatin1String("fired"))
      expected.insert((each["rule"].toString() + u' ' + each["message"].toString()).toStdString());
  std::multiset<std::string> shown;
  for (const ValueRow& row : overview().findings().rows())
    shown.insert((row.values[0].toString() + u' ' + row.values[4].toString()).toStdString());
  EXPECT_EQ(shown, expected);
}

// Compares the view of breakdowns with the command, whose words end with `options`.
void CommandNumbersTest::expectBreakdown(const QStringList& options) {
  window_.showView(QStringLiteral("breakdown"));
  settle();
  auto& view = *qobject_cast<BreakdownView*>(window_.view(QStringLiteral("breakdown")));
  view.choose(BreakdownBy::Operation, BreakdownBy::Category);
  settle();
  ASSERT_EQ(view.message(), "");
  // One name, several, or none.
  const auto joined = [](const QJsonValue& names, const char* none) {
    if (names.isString())
      return names.toString();
    QStringList texts;
    for (const QJsonValue& name : names.toArray())
      texts << name.toString();
    return texts.isEmpty() ? QString::fromUtf8(none) : texts.join(QStringLiteral(" + "));
  };
  std::map<std::pair<std::string, std::string>, std::int64_t> expected;
  const QStringList words{"breakdown", "--by", "operation,category"};
  for (const QJsonValue& row : json(words + options)["rows"].toArray())
    if (row["ns"].toInteger() != 0)
      expected[{joined(row["operation"], "outside of operations").toStdString(),
                joined(row["categories"], "–").toStdString()}] += row["ns"].toInteger();
  std::map<std::pair<std::string, std::string>, std::int64_t> shown;
  for (const ValueRow& row : view.table().rows())
    shown[{row.values[0].toString().toStdString(), row.values[1].toString().toStdString()}] +=
        row.values[2].toLongLong();
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(shown, expected);
}

TEST_P(CommandNumbersTest, BreakdownHasTheCommand) {
  expectBreakdown({});
}

// A third of the job in its middle.
QStringList CommandNumbersTest::selectMiddle() {
  const Skeleton& skeleton = window_.models().document.skeleton();
  const std::int64_t third = (skeleton.endNs - skeleton.beginNs) / 3;
  const std::int64_t begin = skeleton.beginNs + third - skeleton.originNs;
  window_.showTime({begin, begin + third});
  settle();
  return {"--time", QStringLiteral("%1ns..%2ns").arg(begin).arg(begin + third)};
}

TEST_P(CommandNumbersTest, BreakdownOfASelectedSpanHasTheCommand) {
  expectBreakdown(selectMiddle());
}

TEST_P(CommandNumbersTest, TablesOfASelectedSpanHaveTheCommand) {
  const QStringList time = selectMiddle();
  const QJsonObject tables = json(QStringList{"stats"} + time)["tables"].toObject();
  window_.showView(QStringLiteral("tables"));
  auto& view = *qobject_cast<TablesView*>(window_.view(QStringLiteral("tables")));
  for (auto table = tables.begin(); table != tables.end(); ++table) {
    view.choose(table.key());
    settle();
    const QJsonArray expected = table.value().toArray();
    ASSERT_EQ(static_cast<qsizetype>(view.table().rows().size()), expected.size())
        << table.key().toStdString();
    for (qsizetype at = 0; at < expected.size(); ++at)
      for (std::size_t column = 0; column < view.table().columns().size(); ++column) {
        const ValueColumn& of = view.table().columns()[column];
        const QString title =
            of.kind == ValueKind::Duration ? of.title + QStringLiteral(" (ns)") : of.title;
        const QVariant& value = view.table().rows()[static_cast<std::size_t>(at)].values[column];
        const QJsonValue cell = expected[at].toObject().value(title);
        const bool isSame = cell.isDouble() ? value.toDouble() == cell.toDouble()
                                            : value.toString() == cell.toString();
        EXPECT_TRUE(isSame) << title.toStdString() << ": " << value.toString().toStdString();
      }
  }
  EXPECT_GT(tables.size(), 10);
}

INSTANTIATE_TEST_SUITE_P(RealJobs,
                         CommandNumbersTest,
                         ::testing::Values("traces/dlrm_8rank",
                                           "traces/sampled_2rank",
                                           "traces/alexnet.json.gz",
                                           "traces/b200_eager.json.gz",
                                           "straggler/timeline-AR.json.gz"));

}  // namespace
}  // namespace sonde::gui
