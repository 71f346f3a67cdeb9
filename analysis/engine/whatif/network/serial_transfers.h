// Collectives of threads that share a network, apart from each other. Uses the database's thread.
#pragma once

#include "analysis/engine/whatif/question.h"

namespace sonde::engine::whatif {

// While several all-reduces of a communicator are under way on threads, as Gloo's are, each takes
// longer than it would alone, and the thread that serves their sockets handles messages in an order
// that depends on when they began. So where they overlap they follow one another instead, by their
// arrival, and each gets a part of the time in which any of them was under way, in proportion to
// the model of the network. For questions that move the begins of collectives apart. Leaves out
// those that questions have replaced.
Result<void> serialiseTransfers(Asking& asking);

}  // namespace sonde::engine::whatif
