// Shortens names of kernels for display. Any thread.
#pragma once

#include <QString>

namespace sonde::gui {

// A C++ kernel's name without its return type, namespaces and parameters; its template arguments
// stay: "vectorized_elementwise_kernel<4, …>". Other names are unchanged.
[[nodiscard]] QString kernelLabel(const QString& name);

}  // namespace sonde::gui
