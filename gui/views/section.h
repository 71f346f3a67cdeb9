// A titled part of a page, with a link to the view that shows more. Main thread.
#pragma once

#include <QWidget>

namespace sonde::gui {

class Section : public QWidget {
  Q_OBJECT

 public:
  // `view`: a word of --view, which the link names with `link`; empty: no link.
  Section(const QString& title,
          QWidget* content,
          const QString& view = {},
          const QString& link = {});

 signals:
  void viewWanted(const QString& view);
};

}  // namespace sonde::gui
