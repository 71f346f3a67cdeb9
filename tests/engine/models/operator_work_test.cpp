#include "analysis/engine/models/kernels/operator_work.h"

#include <gtest/gtest.h>

namespace sonde::engine::models {
namespace {

std::optional<OperatorWork> work(std::string_view name,
                                 std::string_view shapes,
                                 std::string_view types) {
  const auto inputs = parseInputs(shapes, types);
  EXPECT_TRUE(inputs) << shapes << types;
  return inputs ? workOf(name, *inputs) : std::nullopt;
}

void expectWork(const std::optional<OperatorWork>& found,
                KernelKind kind,
                double flops,
                double bytes) {
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, kind);
  EXPECT_EQ(found->flops, flops);
  EXPECT_EQ(found->bytes, bytes);
}

TEST(OperatorInputs, AreReadInBothForms) {
  const auto profiler = parseInputs(R"([[16, 32], [], [[2], [3, 4]], []])",
                                    R"(["c10::BFloat16", "Scalar", ["float", "float"], ""])");
  ASSERT_TRUE(profiler);
  ASSERT_EQ(profiler->size(), 4U);
  EXPECT_EQ((*profiler)[0].tensors, std::vector<Sizes>({{16, 32}}));
  EXPECT_EQ((*profiler)[1].type, "Scalar");
  EXPECT_EQ((*profiler)[2].tensors, std::vector<Sizes>({{2}, {3, 4}}));
  EXPECT_EQ((*profiler)[2].type, "float");
  EXPECT_EQ((*profiler)[3].type, "");
  const auto recorded = parseInputs("[[2,3],[]]", "[long int, Int]");
  ASSERT_TRUE(recorded);
  EXPECT_EQ((*recorded)[0].type, "long int");
  EXPECT_EQ(parseInputs("[]", "[]")->size(), 0U);
}

TEST(OperatorInputs, RefuseOtherTexts) {
  for (const char* shapes : {"", "[[2, 3]", "[2, 3]", "[[2, x]]", "[[2, 3], []]"})
    EXPECT_FALSE(parseInputs(shapes, "[float]")) << shapes;
  EXPECT_FALSE(parseInputs("[[2]]", "float"));
}

TEST(OperatorWork, OfProductsOfMatrices) {
  expectWork(work("aten::mm", "[[2,3],[3,5]]", "[float,float]"),
             KernelKind::Matrix,
             2 * 2 * 3 * 5,
             4 * (6 + 15 + 10));
  expectWork(work("aten::addmm", "[[5],[2,3],[3,5],[],[]]", "[float,float,float,Scalar,Scalar]"),
             KernelKind::Matrix,
             60,
             4 * (5 + 6 + 15 + 10));
  expectWork(work("aten::bmm", "[[7,2,3],[7,3,5]]", "[c10::Half,c10::Half]"),
             KernelKind::Matrix,
             7 * 60,
             2 * 7 * (6 + 15 + 10));
  expectWork(
      work("aten::mv", "[[2,3],[3]]", "[double,double]"), KernelKind::Matrix, 12, 8 * (6 + 3 + 2));
  EXPECT_EQ(work("aten::mm", "[[2,3],[3,5]]", "[float,float]")->type, "float");
}

TEST(OperatorWork, OfConvolutionsAndAttention) {
  // Both gradients of 4 × 8 × 8 results with 4 filters of 3 × 3 × 3.
  expectWork(work("aten::convolution_backward",
                  "[[1,4,8,8],[1,3,8,8],[4,3,3,3],[]]",
                  "[float,float,float,ScalarList]"),
             KernelKind::Convolution,
             2 * 2 * 256 * 27,
             4 * (256 + 2 * 192 + 2 * 108));
  const auto fused = work("aten::_flash_attention_forward",
                          "[[2,16,4,8],[2,32,4,8],[2,32,4,8],[]]",
                          "[c10::Half,c10::Half,c10::Half,Scalar]");
  expectWork(fused, KernelKind::Attention, 2 * 2 * 4 * 16 * 32 * 16, 2 * (2 * 1024 + 2 * 2048));
  const auto scaled = work("aten::_scaled_dot_product_flash_attention",
                           "[[2,4,16,8],[2,4,32,8],[2,4,32,8]]",
                           "[c10::Half,c10::Half,c10::Half]");
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->flops, fused->flops);
}

TEST(OperatorWork, OfMemory) {
  expectWork(work("aten::add", "[[4,8],[8],[]]", "[float,float,Scalar]"),
             KernelKind::Memory,
             32,
             4 * (32 + 8 + 32));
  expectWork(work("aten::copy_", "[[32],[32],[]]", "[c10::BFloat16,float,Scalar]"),
             KernelKind::Memory,
             32,
             32 * 6);
  expectWork(work("aten::gelu", "[[32],[]]", "[float,]"), KernelKind::Memory, 32 * 175, 256);
  expectWork(work("aten::sum", "[[32]]", "[float]"), KernelKind::Memory, 32, 128);
  // Three rows of 4 numbers, read and written, and their indices.
  expectWork(work("aten::embedding", "[[100,4],[3]]", "[float,long int]"),
             KernelKind::Memory,
             0,
             2 * 3 * 16 + 24);
}

TEST(OperatorWork, IsUnknownWithoutTheSizesThatItNeeds) {
  EXPECT_FALSE(work("aten::view", "[[2,3]]", "[float]"));
  EXPECT_FALSE(work("mine::mm", "[[2,3],[3,5]]", "[float,float]"));
  EXPECT_FALSE(work("aten::mm", "[[2,3],[]]", "[float,float]"));
  EXPECT_FALSE(work("aten::cat", "[[],[]]", "[TensorList,Scalar]"));
  EXPECT_FALSE(work("aten::convolution_backward", "[[],[],[]]", "[float,float,float]"));
}

}  // namespace
}  // namespace sonde::engine::models
