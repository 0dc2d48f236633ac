#include "runners/candidate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/diagnostic.h"
#include "runners/runner.h"
#include "runners/test_case.h"

namespace exotune {
namespace {

constexpr ElementType kAll[] = {ElementType::kF16, ElementType::kBf16, ElementType::kF32,
                                ElementType::kF64, ElementType::kI8,   ElementType::kUi8,
                                ElementType::kI16, ElementType::kUi16, ElementType::kI32};

TEST(ElementType, names_round_trip) {
  for (ElementType t : kAll) EXPECT_EQ(element_from_name(element_name(t)), t);
  EXPECT_THROW(element_from_name("R"), InputError);
}

TEST(ElementType, small_integers_are_exact_in_every_type) {
  for (ElementType t : kAll)
    for (double v : {0.0, 1.0, 3.0, 7.0, 100.0}) {
      unsigned char memory[8];
      store_element(t, memory, v);
      EXPECT_EQ(load_element(t, memory), v) << element_name(t);
    }
}

TEST(ElementType, many_are_as_one_by_one) {
  const std::vector<double> values = {0, 1.1, -2.25, 300, 1e10, -0.1, 65537};
  for (ElementType t : kAll) {
    const size_t width = element_bytes(t);
    std::vector<unsigned char> many(values.size() * width), single(many.size());
    store_elements(t, many.data(), values.data(), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      store_element(t, single.data() + i * width, values[i]);
    EXPECT_EQ(many, single) << element_name(t);
    std::vector<double> back(values.size());
    load_elements(t, many.data(), back.data(), back.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(back[i], load_element(t, single.data() + i * width)) << element_name(t);
  }
}

TEST(ElementType, every_half_round_trips) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double value = load_element(ElementType::kF16, &half);
    if (std::isnan(value)) continue;
    uint16_t back = 0;
    store_element(ElementType::kF16, &back, value);
    ASSERT_EQ(back, half);
  }
}

TEST(ElementType, halves_round_to_nearest_even_and_overflow_to_infinity) {
  const auto rounded = [](double v) {
    uint16_t bits = 0;
    store_element(ElementType::kF16, &bits, v);
    return load_element(ElementType::kF16, &bits);
  };
  EXPECT_EQ(rounded(2049), 2048);
  EXPECT_EQ(rounded(2051), 2052);
  EXPECT_EQ(rounded(-65520), -INFINITY);
  EXPECT_EQ(rounded(65519), 65504);
  EXPECT_EQ(rounded(std::ldexp(1, -24)), std::ldexp(1, -24));
}

TEST(ElementType, bfloat_rounds_to_nearest_even) {
  uint16_t bits = 0;
  store_element(ElementType::kBf16, &bits, 257);
  EXPECT_EQ(load_element(ElementType::kBf16, &bits), 256);
  store_element(ElementType::kBf16, &bits, std::nan(""));
  EXPECT_TRUE(std::isnan(load_element(ElementType::kBf16, &bits)));
}

TEST(ElementType, integers_wrap) {
  int8_t byte = 0;
  store_element(ElementType::kI8, &byte, 200);
  EXPECT_EQ(load_element(ElementType::kI8, &byte), -56);
}

TEST(ArgSpec, offsets_follow_the_strides) {
  const ArgSpec w = ArgSpec::window("w", ElementType::kF32, {2, 3}, {10, 2}, true, false);
  EXPECT_EQ(w.elements(), 6);
  EXPECT_EQ(w.span_elements(), 15);
  EXPECT_EQ(w.element_offsets(), (std::vector<int64_t>{0, 2, 4, 10, 12, 14}));
  const ArgSpec dense = ArgSpec::tensor("t", ElementType::kF32, {2, 3}, true, false);
  EXPECT_EQ(dense.element_strides(), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(dense.span_elements(), 6);
}

TEST(TestCase, inputs_depend_on_the_seed_only) {
  const std::vector<ArgSpec> args = {ArgSpec::tensor("x", ElementType::kF32, {50}, true, false),
                                     ArgSpec::scalar("a", ElementType::kF32, true, false),
                                     ArgSpec::tensor("y", ElementType::kUi8, {50}, true, true),
                                     ArgSpec::tensor("z", ElementType::kF32, {50}, false, true)};
  const TestCase a = make_inputs(args, 1), b = make_inputs(args, 1), c = make_inputs(args, 2);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_NE(a.inputs, c.inputs);
  EXPECT_TRUE(a.inputs[3].empty());
  EXPECT_NE(a.inputs[1][0], 0);
  for (double v : a.inputs[2]) EXPECT_GE(v, 0);
}

TEST(TrialStatus, names_round_trip) {
  for (int k = 0; k <= static_cast<int>(TrialStatus::kSkipped); ++k) {
    const auto status = static_cast<TrialStatus>(k);
    EXPECT_EQ(status_from_name(status_name(status)), status);
  }
  EXPECT_THROW(status_from_name("fine"), InputError);
}

}  // namespace
}  // namespace exotune
