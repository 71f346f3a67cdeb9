// The part of the job that the user looks at: a rank, an operation, a name. The range of time is
// ViewState::selectedTime(). Views show only that part where they can, and set it when the user
// clicks. Part of TraceModels. Main thread.
#pragma once

#include <QObject>
#include <QString>

#include <cstdint>
#include <optional>

namespace sonde::gui {

class Focus : public QObject {
  Q_OBJECT

 public:
  struct Part {
    std::optional<std::int64_t> rank;
    QString operation;  // empty: all
    QString name;       // part of the names of events, ignoring case; empty: all
    bool operator==(const Part&) const = default;
    [[nodiscard]] bool isAll() const { return *this == Part{}; }
  };

  using QObject::QObject;

  [[nodiscard]] const Part& part() const { return part_; }
  void set(Part part);
  void clear() { set({}); }

 signals:
  void changed();

 private:
  Part part_;
};

// "rank 3 · in forward · “gemm”"; empty: the part is all.
[[nodiscard]] QString textOf(const Focus::Part& part);

}  // namespace sonde::gui
