// Says where processors, rather than the network, may be the limit of a job. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

namespace sonde::engine::whatif {

// Asked after all other questions: threads on hosts move the data of collectives, which takes
// processor time however fast the network is. If ranks have fewer processors than their iterations
// would then need, the answer's interval grows and a note says why. How much processor time a byte
// takes on another network is not known: fewer and larger packets take less.
Result<void> checkProcessors(Asking& asking);

}  // namespace sonde::engine::whatif
