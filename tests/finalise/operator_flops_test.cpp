#include "analysis/finalise/operator_flops.h"

#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "tests/store/expect_result.h"
#include "tests/store/temporary_folder.h"

#include <gmock/gmock.h>

#include <optional>

namespace sonde::store {
namespace {

// A process with a thread and the iterations 0 (from 100 ns on) and 1 (from 200 ns on).
class OperatorFlops : public TemporaryFolder {
 protected:
  OperatorFlops() : writer_(*TraceWriter::open(*createTrace(file("a.part")))) {
    EXPECT_TRUE(writer_.begin());
    EXPECT_TRUE(writer_.add(model::Host{{}, "host"}));
    model::Process process;
    process.hostId = model::HostId{1};
    EXPECT_TRUE(writer_.add(process));
    EXPECT_TRUE(writer_.add(model::Thread{{}, model::ProcessId{1}, 1}));
  }

  void iteration(std::int64_t start, model::OptionalReal flops = {}, std::int64_t length = 100) {
    model::Iteration row;
    row.processId = model::ProcessId{1};
    row.startNs = start;
    row.durNs = length;
    row.flops = flops;
    EXPECT_TRUE(writer_.add(row));
  }
  void add(std::int64_t start, const char* name, const char* shapes) {
    const model::Slice slice{{},
                             model::ThreadId{1},
                             model::SliceKind::Operator,
                             "torch",
                             *writer_.intern(name),
                             start,
                             1};
    const std::int64_t id = writer_.add(slice)->value;
    EXPECT_TRUE(writer_.add(
        model::Arg{model::Owner::Slice, id, *writer_.intern("shapes"), std::string_view(shapes)}));
  }
  std::vector<std::optional<double>> flops() {
    EXPECT_TRUE(countOperatorFlops(writer_.database()));
    auto rows = *writer_.database().prepare("SELECT flops FROM iteration ORDER BY start_ns");
    std::vector<std::optional<double>> found;
    while (*rows.step())
      found.push_back(rows.isNull(0) ? std::nullopt : std::optional(rows.real(0)));
    return found;
  }

  TraceWriter writer_;
};

using Found = std::vector<std::optional<double>>;

TEST_F(OperatorFlops, AreThoseOfProducts) {
  iteration(100);
  iteration(200);
  add(110, "aten::mm", "[[2, 3], [3, 5]]");                  // 60
  add(120, "aten::addmm", "[[5], [2, 3], [3, 5], [], []]");  // 60
  add(130, "aten::bmm", "[[7, 2, 3], [7, 3, 5]]");           // 420
  add(140, "aten::baddbmm", "[[7, 2, 5], [7, 2, 3], [7, 3, 5], [], []]");
  add(150, "aten::mv", "[[2, 3], [3]]");  // 12
  add(160, "aten::add", "[[2, 3], [2, 3], []]");
  add(210, "aten::mm", "[[1, 1], [1, 1]]");
  EXPECT_EQ(flops(), (Found{60 + 60 + 420 + 420 + 12, 2}));
}

TEST_F(OperatorFlops, OfConvolutionsAreThoseOfAllThreeParts) {
  iteration(100);
  iteration(200);
  // 2 images, 3 to 8 channels, 4 groups, kernels of 5 x 5, output 6 x 6.
  add(110,
      "aten::convolution_backward",
      "[[2, 8, 6, 6], [2, 3, 10, 10], [8, 3, 5, 5], [], [], [], [], [], [], [], []]");
  // Transposed: 4 to 3 channels.
  add(210,
      "aten::convolution_backward",
      "[[2, 3, 12], [2, 4, 8], [4, 3, 5], [], [], [], [], [], [], [], []]");
  EXPECT_EQ(flops(), (Found{3 * 2.0 * (2 * 8 * 36) * (3 * 25), 3 * 2.0 * (2 * 4 * 8) * (3 * 5)}));
}

TEST_F(OperatorFlops, OfFusedAttentionAreThoseOfItsProducts) {
  iteration(100);
  iteration(200);
  // 2 batches, 4 heads, 5 queries and 7 keys of size 8, values of size 8.
  add(110,
      "aten::_scaled_dot_product_flash_attention_for_cpu",
      "[[2, 4, 5, 8], [2, 4, 7, 8], [2, 4, 7, 8], [], [], [], []]");
  add(210,
      "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
      "[[2, 4, 5, 8], [2, 4, 5, 8], [2, 4, 7, 8], [2, 4, 7, 8], [2, 4, 5, 8], [2, 4, 5], [], [], "
      "[], []]");
  const double product = 2.0 * 2 * 4 * 5 * 7 * 8;
  EXPECT_EQ(flops(), (Found{2 * product, 5 * product}));
}

TEST_F(OperatorFlops, TheProgramsOwnStay) {
  iteration(100, 17);
  iteration(200);
  add(110, "aten::mm", "[[2, 3], [3, 5]]");
  EXPECT_EQ(flops(), (Found{17, std::nullopt}));
}

TEST_F(OperatorFlops, AreAlsoThoseOfIterationsWithin) {
  iteration(100, {}, 100);
  iteration(110, {}, 40);
  iteration(120, {}, 10);
  iteration(160, 1000, 10);
  iteration(180, {}, 10);
  iteration(300, {}, 100);
  iteration(310, {}, 10);
  add(105, "aten::mv", "[[1, 1], [1]]");
  add(115, "aten::mv", "[[10, 1], [1]]");
  add(125, "aten::mv", "[[100, 1], [1]]");
  add(165, "aten::mv", "[[10000, 1], [1]]");
  add(315, "aten::mv", "[[7, 1], [1]]");
  EXPECT_EQ(flops(), (Found{222 + 1000, 220, 200, 1000, std::nullopt, 14, 14}));
}

TEST_F(OperatorFlops, StrangeShapesCountNothing) {
  iteration(100);
  for (const char* shapes :
       {"", "no JSON", "[]", "[[], []]", "[[2], [3]]", "{}", "[[\"a\", 2], [2, 3]]"})
    add(110, "aten::mm", shapes);
  EXPECT_EQ(flops(), Found{std::nullopt});
}

}  // namespace
}  // namespace sonde::store
