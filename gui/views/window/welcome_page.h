// The first page of the window, before a trace is open: what to do next. Main thread.
#pragma once

#include <QList>
#include <QStringList>
#include <QWidget>

class QVBoxLayout;

namespace sonde::gui {

class WelcomePage : public QWidget {
  Q_OBJECT

 public:
  explicit WelcomePage(QWidget* parent = nullptr);

  // The last jobs, each with its files, the latest first.
  void showRecent(const QList<QStringList>& jobs);
  // A trace that comes with Sonde; empty: there is none.
  void setExample(const QString& path);

 signals:
  void chooseWanted();
  void recordWanted();
  void openWanted(const QStringList& paths);

 private:
  QVBoxLayout* begin_ = nullptr;
  QVBoxLayout* recent_ = nullptr;
};

}  // namespace sonde::gui
