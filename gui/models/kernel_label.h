// Names of kernels as they are read best. Any thread.
#pragma once

#include <QString>

namespace sonde::gui {

// A C++ kernel's name without its result, its namespaces and its parameters; its template arguments
// stay: "vectorized_elementwise_kernel<4, …>". Other names as they are.
[[nodiscard]] QString kernelLabel(const QString& name);

}  // namespace sonde::gui
