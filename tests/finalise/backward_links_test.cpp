#include "analysis/finalise/backward_links.h"

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "tests/store/expect_result.h"
#include "tests/store/temporary_folder.h"

#include <gmock/gmock.h>

#include <tuple>
#include <vector>

namespace sonde::store {
namespace {

// Two processes with a thread each.
class BackwardLinks : public TemporaryFolder {
 protected:
  BackwardLinks() : writer_(*TraceWriter::open(*createTrace(file("a.part")))) {
    EXPECT_TRUE(writer_.begin());
    EXPECT_TRUE(writer_.add(model::Host{{}, "host"}));
    for (std::int64_t number = 1; number <= 2; ++number) {
      model::Process process;
      process.hostId = model::HostId{1};
      EXPECT_TRUE(writer_.add(process));
      EXPECT_TRUE(writer_.add(model::Thread{{}, model::ProcessId{number}, number}));
    }
  }

  // An operator with the argument `key` = `node`.
  std::int64_t add(std::int64_t thread, std::int64_t start, const char* key, std::int64_t node) {
    const model::Slice slice{{},
                             model::ThreadId{thread},
                             model::SliceKind::Operator,
                             "torch",
                             *writer_.intern("name"),
                             start,
                             1};
    const std::int64_t id = writer_.add(slice)->value;
    EXPECT_TRUE(writer_.add(model::Arg{model::Owner::Slice, id, *writer_.intern(key), node}));
    return id;
  }

  using Links = std::vector<std::tuple<std::int64_t, std::int64_t>>;
  Links links() {
    EXPECT_TRUE(linkBackward(writer_.database()));
    auto rows = *writer_.database().prepare(
        "SELECT from_id, to_id FROM link WHERE kind = 'fwdbwd' AND from_owner = 'slice' AND "
        "to_owner = 'slice' ORDER BY to_id");
    Links found;
    while (*rows.step())
      found.emplace_back(rows.integer(0), rows.integer(1));
    return found;
  }

  TraceWriter writer_;
};

TEST_F(BackwardLinks, GoFromTheLastOperatorThatWasToldTheNode) {
  const auto last = add(1, 30, "autograd_node", 7);
  add(1, 10, "autograd_node", 7);
  add(1, 20, "autograd_node", 7);
  const auto backward = add(1, 40, "backward_of", 7);
  EXPECT_EQ(links(), (Links{{last, backward}}));
}

TEST_F(BackwardLinks, StayInTheProcess) {
  const auto forward = add(1, 10, "autograd_node", 7);
  const auto backward = add(1, 40, "backward_of", 7);
  const auto forwardOfOther = add(2, 20, "autograd_node", 7);
  const auto backwardOfOther = add(2, 30, "backward_of", 7);
  EXPECT_EQ(links(), (Links{{forward, backward}, {forwardOfOther, backwardOfOther}}));
}

TEST_F(BackwardLinks, AreOfEachBackwardOfANode) {
  const auto forward = add(1, 10, "autograd_node", 7);
  const auto first = add(1, 20, "backward_of", 7);
  const auto second = add(1, 30, "backward_of", 7);
  EXPECT_EQ(links(), (Links{{forward, first}, {forward, second}}));
}

TEST_F(BackwardLinks, AreNotThereWithoutAnOperator) {
  add(1, 10, "autograd_node", 8);
  add(1, 40, "backward_of", 7);
  EXPECT_EQ(links(), Links{});
}

}  // namespace
}  // namespace sonde::store
