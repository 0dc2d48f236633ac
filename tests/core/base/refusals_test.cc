// All errors of one text in one error.
#include "core/base/refusals.h"

#include <gtest/gtest.h>

namespace exotune {
namespace {

Diagnostic refused(const std::string& message, const std::string& hint = "") {
  return Diagnostic{{}, message, {}, hint};
}

TEST(Refusals, AreSaidInTheirOrder) {
  Refusals all;
  all.add(refused("first", "a"));
  all.add(refused("second", "b"));
  EXPECT_STREQ(all.all().what(), "error: first\nhint: a\nerror: second\nhint: b\n");
}

TEST(Refusals, SayOnceWhatRepeats) {
  Refusals all;
  all.add(refused("no x"));
  all.add(refused("no x"));
  all.add(refused("no x", "did you mean y?"));
  EXPECT_EQ(all.all().diagnostic().more.size(), 1u);
}

TEST(Refusals, TakeApartWhatWasGathered) {
  Refusals inner, all;
  inner.add(refused("first"));
  inner.add(refused("second"));
  all.add(inner.all().diagnostic());
  all.add(refused("second"));
  all.add(refused("third"));
  EXPECT_STREQ(all.all().what(), "error: first\nerror: second\nerror: third\n");
}

TEST(Refusals, CountWhatIsBeyondAScreen) {
  Refusals all;
  for (size_t k = 0; k < Refusals::kMost + 3; ++k) all.add(refused("error " + std::to_string(k)));
  const Diagnostic first = all.all().diagnostic();
  ASSERT_EQ(first.more.size(), Refusals::kMost - 1);
  ASSERT_EQ(first.more.back().notes.size(), 1u);
  EXPECT_EQ(first.more.back().notes.front().str(), "3 more errors are not shown");
}

}  // namespace
}  // namespace exotune
