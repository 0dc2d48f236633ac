// Primitives in a row: a matrix-product micro-kernel on the instructions of a target folder.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

std::string target_text(const std::string& name) {
  std::string out;
  std::vector<std::filesystem::path> files;
  for (const auto& f :
       std::filesystem::directory_iterator(std::string(EXOTUNE_SOURCE_DIR) + "/hw/" + name))
    if (f.path().extension() == ".exo") files.push_back(f.path());
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    bool ma = a.filename() == "memory.exo", mb = b.filename() == "memory.exo";
    return ma != mb ? ma : a < b;
  });
  for (const auto& f : files) {
    std::ifstream in(f);
    std::stringstream text;
    text << in.rdbuf();
    out += text.str() + "\n";
  }
  return out;
}

// The body of every instruction that ships is recognised as a call of it.
TEST(Pipeline, every_instruction_matches_its_own_body) {
  for (const char* target : {"avx2", "avx512", "rvm", "gemmini"}) {
    Module m = parse_module(target_text(target), target);
    ASSERT_FALSE(m.procs.empty());
    for (const ProcPtr& instr : m.procs) {
      auto copy = std::make_shared<Proc>(*refresh_all(*instr));
      copy->instr.reset();
      copy->provenance = nullptr;
      ProcPtr p = copy;
      std::string said = refused([&] {
        ProcPtr q = replace(p, body_of(p), instr);
        EXPECT_EQ(q->body.size(), 1u);
        EXPECT_TRUE(q->body[0]->as<Call>() != nullptr);
      });
      EXPECT_EQ(said, "") << str(*instr);
    }
  }
}

TEST(Pipeline, sgemm_micro_kernel_on_avx512) {
  Module m = parse_module(target_text("avx512") + R"(
@proc
def sgemm(K: size, A: f32[6, K], B: f32[K, 64], C: f32[6, 64]):
    for k in seq(0, K):
        for i in seq(0, 6):
            for j in seq(0, 64):
                C[i, j] += A[i, k] * B[k, j]
)",
                          "sgemm.exo");
  ProcPtr start = m.procs.back();
  MemoryPtr avx512 = m.memories.at("AVX512");
  ProcPtr p = start;
  p = divide_loop(p, "j", 16, {"jo", "ji"}, Tail::kPerfect);
  p = stage_mem(p, "for k in _: _", "C[0:6, 0:64]", "C_reg");
  p = divide_dim(p, "C_reg", 1, 16);
  p = set_memory(p, "C_reg", avx512);
  p = divide_loop(p, "i1", 16, {"i1o", "i1i"}, Tail::kPerfect);
  p = divide_loop(p, "i1", 16, {"i1o", "i1i"}, Tail::kPerfect);
  p = simplify(p);
  p = stage_mem(p, "for ji in _: _", "B[k, 16 * jo:16 * jo + 16]", "b");
  p = set_memory(p, "b", avx512);
  for (const char* instr : {"mm512_loadu_ps", "mm512_storeu_ps", "mm512_fmadd_bcast_ps"})
    for (bool again = true; again;) {
      again = false;
      for (const Path& at : all_stmt_paths(*p)) {
        auto q = try_replace(p, Cursor::stmt(p, at), m.find_proc(instr));
        if (!q) continue;
        p = *q;
        again = true;
        break;
      }
    }
  EXPECT_FALSE(contains(str(*p), "] += ")) << str(*p);
  EXPECT_FALSE(contains(str(*p), "] = ")) << str(*p);
  EXPECT_NO_THROW(check(*p, /*for_codegen=*/true)) << str(*p);
  expect_same_meaning(start, p, {{{"K", 1}}, {{"K", 5}}});
  EXPECT_TRUE(is_equivalent(start, p));
  EXPECT_FALSE(reassociates(p));
}

}  // namespace
}  // namespace exotune::test
