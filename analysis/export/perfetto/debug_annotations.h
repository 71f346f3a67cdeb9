// Arguments of a span as Perfetto's debug annotations.
#pragma once

#include "generated/perfetto_trace.pb.h"

#include <string_view>

namespace sonde::exports {

// `json`: an object. Any other text becomes one annotation, "args".
void addAnnotations(std::string_view json, perfetto::TrackEvent& event);

}  // namespace sonde::exports
