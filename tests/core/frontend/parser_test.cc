#include "core/frontend/parser.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "tests/core/frontend/samples.h"
#include "tests/core/frontend/shipped.h"

namespace exotune {
namespace {

// Procs are compared with their headers: arguments become bindings by making them allocations.
bool same_proc(const Proc& a, const Proc& b) {
  auto as_block = [](const Proc& p) {
    Block out;
    for (const Arg& arg : p.args) {
      out.push_back(make_alloc(arg.name, arg.type, is_data(arg.type.scalar) ? arg.mem : dram()));
    }
    for (const ExprPtr& e : p.asserts) out.push_back(make_if(e, {make_pass()}));
    out.insert(out.end(), p.body.begin(), p.body.end());
    return out;
  };
  if (a.name != b.name || a.args.size() != b.args.size()) return false;
  for (size_t k = 0; k < a.args.size(); ++k)
    if (a.args[k].type.window != b.args[k].type.window) return false;
  return alpha_equal(as_block(a), as_block(b));
}

// Reads the print of each of the module's procs back.
void expect_round_trip(const Module& m) {
  for (const ProcPtr& p : m.procs) {
    std::string printed = str(*p);
    Module again;
    ASSERT_NO_THROW(again = parse_module(printed, "printed.exo", {}, &m)) << printed;
    ASSERT_EQ(again.procs.size(), 1u);
    const Proc& q = *again.procs[0];
    EXPECT_TRUE(same_proc(*p, q)) << printed << str(q);
    EXPECT_EQ(str(q), printed);
    ASSERT_EQ(q.instr.has_value(), p->instr.has_value());
    if (p->instr) {
      EXPECT_EQ(q.instr->c_template, p->instr->c_template);
      EXPECT_EQ(q.instr->c_global, p->instr->c_global);
      EXPECT_EQ(q.instr->cost, p->instr->cost);
    }
  }
}

TEST(Parser, prints_and_reads_back_to_equal_procs) {
  for (const std::string& text : samples::kFiles)
    expect_round_trip(parse_module(text, "sample.exo"));
}

TEST(Parser, every_shipped_file_is_read_and_prints_back) {
  EXPECT_GE(shipped::target_names().size(), 2u);
  for (const std::string& name : shipped::target_names()) {
    Module before;
    for (Module& m : shipped::target_files(name)) {
      expect_round_trip(m);
      before.import_all(m);
    }
    EXPECT_FALSE(before.imported_procs.empty()) << name;
  }
  const std::filesystem::path folder = std::filesystem::path(EXOTUNE_SOURCE_DIR) / "kernels";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".exo") continue;
    Module m = shipped::kernels(entry.path().stem().string());
    EXPECT_FALSE(m.procs.empty()) << entry.path();
    expect_round_trip(m);
  }
}

TEST(Parser, reads_declarations) {
  Module m = parse_module(samples::kFiles[1], "sample.exo");
  EXPECT_EQ(m.constants.at("W"), 8);
  EXPECT_EQ(m.constants.at("H"), 16);
  const Memory& vec = *m.memories.at("VEC");
  EXPECT_EQ(vec.kind, MemoryKind::kVector);
  EXPECT_EQ(vec.count, 16);
  EXPECT_EQ(vec.bytes, 32);
  EXPECT_FALSE(vec.addressable);
  EXPECT_EQ(vec.c_types.at("f32"), "__m256");
  EXPECT_TRUE(m.memories.at("SRAM")->addressable);
  EXPECT_TRUE(m.configs.at("Cfg")->readable);
  EXPECT_FALSE(m.configs.at("Hidden")->readable);
  EXPECT_EQ(m.configs.at("Cfg")->fields.size(), 4u);
  EXPECT_EQ(m.user_procs().size(), 1u);
  EXPECT_EQ(m.find_proc("load8")->instr->cost, 0.5);
  EXPECT_EQ(m.find_proc("load8")->instr->c_global, "#include <immintrin.h>\n");
}

TEST(Parser, literals_take_the_precision_they_meet) {
  Module m = parse_module("@proc\ndef f(x: f64, y: i8):\n    x = 1.0 + 2.0\n    y = 2 * y\n", "f");
  const Assign* x = m.procs[0]->body[0]->as<Assign>();
  EXPECT_EQ(x->rhs->type, ScalarType::kF64);
  EXPECT_EQ(x->rhs->as<BinOp>()->lhs->type, ScalarType::kF64);
  const Assign* y = m.procs[0]->body[1]->as<Assign>();
  EXPECT_EQ(y->rhs->as<BinOp>()->lhs->type, ScalarType::kI8);
}

std::string printed(const std::string& args, const std::string& body) {
  return str(*parse_module("@proc\ndef f(" + args + "):\n" + body, "f").procs[0]);
}

TEST(Parser, short_forms_of_assignments_are_read_as_the_long_ones) {
  const std::string args = "n: size, x: f32[n], y: f32";
  EXPECT_EQ(
      printed(args, "    y -= x[0]\n    y -= 2\n    x[0] *= y\n    y /= 2\n    y min= x[0]\n"),
      printed(args,
              "    y += -x[0]\n    y += -2\n    x[0] = x[0] * y\n    y = y / 2\n"
              "    y min= x[0]\n"));
}

TEST(Parser, a_scalar_with_a_value_is_an_allocation_and_an_assignment) {
  EXPECT_EQ(printed("x: f32[4]", "    t: f32 = x[0] + 1\n    x[1] = t\n"),
            printed("x: f32[4]", "    t: f32\n    t = x[0] + 1\n    x[1] = t\n"));
  EXPECT_EQ(printed("x: i8", "    t: f32 @ DRAM = f32(x) * 0.5\n    x = i8(t)\n"),
            printed("x: i8",
                    "    x_f32: f32\n    x_f32 = x\n    t: f32\n    t = x_f32 * 0.5\n"
                    "    t_i8: i8\n    t_i8 = t\n    x = t_i8\n"));
}

TEST(Parser, the_value_of_an_allocation_does_not_see_its_name) {
  const std::string text = printed("t: f32, x: f32", "    t: f32 = t + 1.0\n    x = t\n");
  EXPECT_NE(text.find("    t_1 = t + 1.0\n    x = t_1\n"), std::string::npos) << text;
}

TEST(Parser, conditions_are_compared_as_themselves) {
  const std::string args = "a: bool, b: bool, x: R";
  auto condition = [&](const std::string& c) {
    return printed(args, "    if " + c + ":\n        x = 0.0\n");
  };
  EXPECT_EQ(condition("a == True"), condition("a"));
  EXPECT_EQ(condition("False == a"), condition("not a"));
  EXPECT_EQ(condition("a != True"), condition("not a"));
  EXPECT_EQ(condition("a == b"), condition("a and b or not a and not b"));
  EXPECT_EQ(condition("a != b"), condition("a and not b or not a and b"));
}

TEST(Parser, long_chains_of_elif_print_flat_and_read_back) {
  std::string body = "    if n == 0:\n        x = 0.0\n";
  for (int k = 1; k < 300; ++k)
    body += "    elif n == " + std::to_string(k) + ":\n        x = " + std::to_string(k) + ".0\n";
  body += "    else:\n        x = -1.0\n";
  const std::string text = printed("n: size, x: f32", body);
  EXPECT_EQ(text, str(*parse_module(text, "f").procs[0]));
  EXPECT_NE(text.find("\n    elif n == 299:\n        x = 299.0\n    else:\n"), std::string::npos);
}

TEST(Parser, casts_keep_the_type_that_they_name) {
  Module m = parse_module("@proc\ndef f(n: size, x: f64):\n    x = x * f64(n + 1)\n", "f");
  const BinOp* product = m.procs[0]->body[0]->as<Assign>()->rhs->as<BinOp>();
  EXPECT_EQ(product->rhs->type, ScalarType::kF64);
  EXPECT_EQ(str(product->rhs), "f64(n + 1)");
  EXPECT_TRUE(equal(product->rhs, cast_to(ScalarType::kF64, product->rhs->as<Cast>()->arg)));
  EXPECT_FALSE(equal(product->rhs, cast_to(ScalarType::kF32, product->rhs->as<Cast>()->arg)));
}

TEST(Parser, casts_of_data_are_assignments_in_front) {
  EXPECT_EQ(printed("n: size, x: i8[n], y: f32[n]",
                    "    for i in seq(0, n):\n        y[i] += f32(x[i]) * f32(f64(x[i] + x[0])) + "
                    "f32(y[i])\n"),
            printed("n: size, x: i8[n], y: f32[n]",
                    "    for i in seq(0, n):\n        x_f32: f32\n        x_f32 = x[i]\n"
                    "        t_f64: f64\n        t_f64 = x[i] + x[0]\n        "
                    "t_f64_f32: f32\n        t_f64_f32 = t_f64\n"
                    "        y[i] += x_f32 * t_f64_f32 + y[i]\n"));
  EXPECT_EQ(printed("x: f32", "    x = f32(2.5)\n"), printed("x: f32", "    x = 2.5\n"));
}

TEST(Parser, one_text_declares_a_procedure_for_each_entry_of_a_list) {
  const Module m = parse_module(R"exo(
@memory
class VEC:
    kind = 'stack'

for T, s, n in [("f32", "ps", 4), (f64, pd, 2)]:
    # Both have both.
    for op, value in [("add", "a[i] + b[i]"), ("twice", "2.0 * (a[i] + b[i])"),]:

        @instr("{dst_data} = ${op}_$s({a_data}, {b_data});", cost = 0.5)
        def vec_${op}_$s(dst: [$T][$n] @ VEC, a: [$T][$n] @ VEC, b: [$T][$n] @ VEC):
            for i in seq(0, $n):
                dst[i] = $value

@proc
def last(x: f32[4] @ VEC):
    vec_add_ps(x[0:4], x[0:4], x[0:4])
)exo",
                                "vec.exo");
  ASSERT_EQ(m.procs.size(), 5u);
  EXPECT_EQ(m.procs[0]->instr->c_template, "{dst_data} = add_ps({a_data}, {b_data});");
  EXPECT_EQ(m.procs[3]->name, "vec_twice_pd");
  EXPECT_EQ(str(*m.procs[3]),
            "@instr(\"{dst_data} = twice_pd({a_data}, {b_data});\", cost = 0.5)\n"
            "def vec_twice_pd(dst: [f64][2] @ VEC, a: [f64][2] @ VEC, b: [f64][2] @ VEC):\n"
            "    for i in seq(0, 2):\n        dst[i] = 2.0 * (a[i] + b[i])\n");
  EXPECT_EQ(m.procs[3]->where.str(), "vec.exo:11:13");
}

TEST(Parser, lists_that_make_too_much_text_are_refused_soon) {
  std::string list, text, indent;
  for (int k = 0; k < 100; ++k) list += std::to_string(k) + ", ";
  for (const char* name : {"a", "b", "c", "d"}) {
    text += indent + "for " + name + " in [" + list + "]:\n";
    indent += "    ";
  }
  text +=
      indent + "@proc\n" + indent + "def f_${a}_${b}_${c}_$d(x: f32):\n" + indent + "    x = 0.0\n";
  EXPECT_THROW((void)parse_module(text, "f"), InputError);
}

TEST(Parser, imports_make_names_visible) {
  Module target = parse_module(
      "@memory\nclass VEC:\n    kind = 'stack'\n@instr('x')\ndef f(x: f32):\n    x = 0.0\n", "t");
  Importer importer = [&](const std::string& name, const SourceLocation&) {
    return name == "t" ? &target : nullptr;
  };
  Module m =
      parse_module("from t import *\n@proc\ndef g(x: f32 @ VEC):\n    f(x)\n", "g", importer);
  EXPECT_EQ(m.procs.size(), 1u);
  EXPECT_EQ(m.find_proc("f"), target.procs[0]);
  EXPECT_EQ(m.imports, std::vector<std::string>{"t"});
  EXPECT_THROW(parse_module("from u import *\n", "g", importer), InputError);
}

TEST(Parser, a_name_means_what_prints_so) {
  Module m = parse_module(samples::kFiles[5], "shadow");
  Path inner = {{Child::kBody, 0}, {Child::kBody, 0}, {Child::kBody, 0}};
  std::vector<ScopeEntry> scope = scope_at(*m.procs[0], inner);
  EXPECT_EQ(parse_control_expr("i", scope)->as<Read>()->name, scope[2].name);
  EXPECT_EQ(parse_control_expr("i_1", scope)->as<Read>()->name, scope[3].name);
  ExprPtr both = parse_control_expr("i_1 + 2 * i", scope);
  EXPECT_EQ(str(both, scope), "i_1 + 2 * i");
}

TEST(Parser, reads_windows_in_a_scope) {
  Module m = parse_module(samples::kSgemm, "sgemm");
  std::vector<ScopeEntry> scope = scope_at(*m.procs[0], {{Child::kBody, 0}, {Child::kBody, 0}});
  EXPECT_EQ(str(parse_window("C[4*k:4*k+4, :]", scope)), "C[4 * k:4 * k + 4, 0:N]");
  EXPECT_EQ(str(parse_window("A", scope)), "A[0:M, 0:K]");
  EXPECT_EQ(str(parse_window("A[k, 3:]", scope)), "A[k, 3:K]");
  EXPECT_THROW(parse_window("A[k]", scope), InputError);
  EXPECT_THROW(parse_window("k", scope), InputError);
  EXPECT_THROW(parse_window("A[0:4, 0:4] + 1", scope), InputError);
}

// One line per offence: the text, and a fragment of what must be said.
struct Offence {
  const char* text;
  const char* said;
};
class ParserRefuses : public testing::TestWithParam<Offence> {};

TEST_P(ParserRefuses, and_says_why) {
  try {
    parse_module(GetParam().text, "bad.exo");
    FAIL() << "accepted:\n" << GetParam().text;
  } catch (const InputError& e) {
    std::string said = e.what();
    EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
    EXPECT_EQ(said.rfind("bad.exo:", 0), 0u) << said;
  }
}

#define BODY(args, body) "@proc\ndef f(" args "):\n    " body "\n"
INSTANTIATE_TEST_SUITE_P(
    Offences, ParserRefuses,
    testing::Values(
        // text
        Offence{"@proc\ndef f(x: R):\n    x = 99999999999999999999\n", "does not fit in 64 bits"},
        Offence{"@proc\ndef f(x: R):\n    x = 'a\n", "not closed on its line"},
        Offence{"@instr('''a\ndef f(x: R):\n    x = 0.0\n", "never closed"},
        Offence{"@proc\ndef f(x: R:\n    x = 0.0\n", "this `(` is never closed"},
        Offence{"@proc\ndef f(x: R\n", "never closed"},
        Offence{"@proc\ndef f(x: R)):\n    x = 0.0\n", "closes nothing"},
        Offence{"@proc\ndef f(x: R[4):\n    x = 0.0\n", "does not close `[`"},
        Offence{"@proc\ndef f(x: R):\n        x = 0.0\n    x = 1.0\n", "matches no line"},
        Offence{"@proc\ndef f(x: R):\n\tx = 0.0\n        x = 1.0\n", "tabs and spaces"},
        Offence{BODY("x: R", "x = 1.0 $ 2.0"), "unexpected character `$`"},
        Offence{BODY("x: R", "x = 3abc"), "neither a number nor a name"},
        Offence{BODY("x: R", "x = 1e999"), "too large"},
        // grammar
        Offence{"class f:\n    x = 0\n", "needs a decorator"},
        Offence{"@prok\ndef f(x: R):\n    x = 0.0\n", "did you mean `proc`"},
        Offence{"@proc\ndef f(x: R):\n", "expected an indented block"},
        Offence{BODY("x: R", "x mix= 1.0"), "there is no reduction `mix=`"},
        Offence{BODY("x: R", "x mul= 1.0"), "`+=`, `-=`, `max=` and `min=`"},
        Offence{BODY("x: R", "2mm = 1.0"), "write `mm2`"},
        Offence{"@proc\ndef 3d_conv(x: R):\n    x = 0.0\n", "write `d_conv3`"},
        Offence{BODY("n: size, x: R[n]", "for i in seq(n - 1, -1, -1):\n        x[i] = 0.0"),
                "write `for i in seq(0, n):`, and `n - i - 1` where `i` is meant"},
        Offence{BODY("n: size, x: R[n]", "for i in seq(0, n, 2):\n        x[i] = 0.0"),
                "write `for i in seq(0, (n + 1) / 2):`, and `2 * i`"},
        Offence{BODY("x: R", "x = (x + 1.0) ** 2"), "write `(x + 1.0) * (x + 1.0)`"},
        Offence{BODY("x: R", "x = x ** -0.5"), "write `pow(x, -0.5)`"},
        Offence{BODY("x: R", "x = x >> 2"), "there is no `>>`\nhint: numbers of a floating type"},
        Offence{BODY("x: i32, y: i32", "x = x & y"), "no bit operations on data"},
        Offence{BODY("x: i32", "x = x & 5"), "no bit operations on data"},
        Offence{BODY("x: i32", "x = x | 3"),
                "there is no `|`\nhint: write `x + 3`, where no bit is"},
        Offence{BODY("x: i32", "x |= 3"), "write `x += 3` where no bit is set in both"},
        Offence{BODY("n: size", "if n < 4 | n < 5:\n        pass"),
                "write `or` between conditions"},
        Offence{BODY("n: size", "if n < 4 ^ n < 5:\n        pass"),
                "write `!=` between conditions"},
        Offence{BODY("x: i32", "x >>= 3"), "write `x /= 8` where no number is negative"},
        Offence{BODY("x: i32", "x <<= 3"), "write `x *= 8`"},
        Offence{BODY("x: i32", "x &= 3"), "no bit operations on data"},
        Offence{BODY("n: size", "if n < 4 & n < 5:\n        pass"),
                "write `and` between conditions"},
        Offence{BODY("n: size, x: R[n]", "for g in seq(0, 1 << n):\n        pass"),
                "a loop nest for each `n`, or a procedure"},
        Offence{BODY("n: size, x: R[n]", "for g in seq(0, n):\n        x[n * g + 1] = 0.0"),
                "`n` is a dimension then"},
        Offence{BODY("n: size, x: R[n]", "for g in seq(0, n):\n        x[2 * n * g] = 0.0"),
                "where `2 * n` takes few values, write a procedure for each"},
        Offence{BODY("n: size, x: R[n]",
                     "for i in seq(0, n):\n        for j in seq(0, i * n):\n            pass"),
                "bounds and conditions stay affine: where `n` takes few values"},
        Offence{BODY("x: i32[4], y: R[4]", "y[x[0]] = 0.0"), "write the loop over them out"},
        Offence{BODY("x: f32[4], y: R[4]", "y[i32(x[0])] += 1.0"),
                "`for b in ..`, `select(i32(x[0]), i32(b), 0, select(i32(b), i32(x[0]), 0, 1))` is "
                "1 at the one that is meant"},
        Offence{BODY("x: i32[4], y: R", "y = f32(x[0] < x[1])"),
                "write `select(x[0], x[1], 1, 0)`"},
        Offence{
            BODY("n: size, x: f32[n], y: f32[n]",
                 "for k in seq(0, n):\n        if x[k] > 0.5 and k > 2:\n            y[k] = 1.0"),
            "write `if k > 2:`, and in it: `select(a, b, c, d)` is `c` where a < b, else "
            "`d`: write `y[k] = select(0.5, x[k], 1.0, y[k])`"},
        Offence{BODY("n: size, x: f32[n]",
                     "for q in seq(1, 4):\n        for g in seq(0, n / (2 * q)):\n            "
                     "x[g] = 0.0"),
                "where `q` takes few values, write a procedure for each"},
        Offence{"D = [113, 127]\n" BODY("x: R", "x = 0.0"),
                "an argument: `D: i32[2]`; whole numbers that stand in subscripts"},
        Offence{"D = [0.5, -1.0, 2.0]\n" BODY("x: R", "x = 0.0"), "an argument: `D: f32[3]`"},
        Offence{"D = [\n" BODY("x: R", "x = 0.0"), "this `[` is never closed"},
        Offence{BODY("x: R", "if 1 < 2 && 2 < 3:\n        pass"), "write `and`"},
        Offence{BODY("x: R", "if !(1 < 2):\n        pass"), "write `not` or `!=`"},
        Offence{BODY("x: R", "x = math.exp(x)"), "write `exp(...)`"},
        Offence{BODY("x: R[4], y: R", "y = x.shape[0]"), "the sizes of a tensor have names"},
        Offence{BODY("x: R, y: R", "x, y = y, x"), "keeps what is overwritten"},
        Offence{BODY("x: R, y: R", "x, y = 1.0, 2.0"), "on each line: `x = 1.0`, `y = 2.0`"},
        Offence{BODY("x: R", "lo, hi: f32"),
                "one declaration per statement\nhint: write one on "
                "each line: `lo: f32`, `hi: f32`"},
        Offence{BODY("", "a: f32 = 0.5, b: f32[2] = 1.0"), "`a: f32 = 0.5`, `b: f32[2] = 1.0`"},
        Offence{BODY("x: R, y: R", "(x, y) = (1.0, 2.0)"), "there are no tuples"},
        Offence{BODY("x: R, y: R", "x = y, x"), "one assignment per statement\nhint: write one"},
        Offence{BODY("x: R, y: R", "x = y if 1 < 2 else x"),
                "hint: sizes and indices decide by a statement: write `if 1 < 2:` with `y`, and "
                "`else:` "
                "with `x`"},
        Offence{BODY("x: R", "x = 1.0 if x"), "expected `else` and the other value"},
        Offence{BODY("x: R[2]", "x = [1.0, 2.0]"), "assigned one by one"},
        Offence{BODY("", "k: f32[2] = [1.0, 2.0]"), "only a scalar is given a value"},
        Offence{BODY("", "k: f32 = [1.0, 2.0]"), "there are no lists of values"},
        Offence{BODY("", "k: f32 = [1, 2]"), "one by one: `x[0] = 1.0`; whole numbers"},
        Offence{BODY("x: f32[8]", "t: f32[4] = x[0:4]"), "with no type: `t = x[0:4]`"},
        Offence{BODY("x: f32[4]", "k: f32 = x[0:2]"), "cannot be used as a value"},
        Offence{BODY("n: size", "m: size = n + 1"), "only data is allocated"},
        Offence{"@proc\ndef f(n: size = 8):\n    pass\n", "an argument has no default"},
        Offence{BODY("n: size", "for i in seq(0, n):\n        break"), "no `break`\nhint: a loop"},
        Offence{BODY("x: R", "return x"), "results are arguments"},
        Offence{BODY("x: R, n: size", "x = 0.0\n    for i in range(0, n):\n        pass"), "seq"},
        Offence{BODY("n: size", "for i, j in seq(0, n):\n        pass"), "a loop has one iterator"},
        Offence{BODY("n: size", "for i in seq(n):\n        pass"), "two bounds"},
        Offence{BODY("x: R", "while x:\n        pass"), "no `while`"},
        Offence{BODY("x: R", "x"), "not a statement"},
        Offence{BODY("x: R", "x = 0.0\n    assert 1 < 2"), "only at the top"},
        Offence{BODY("x: R[4]", "x[0:4:2] = 0.0"), "no step"},
        Offence{BODY("x: R[4, 4]", "x[0][0] = 0.0"), "one pair of brackets"},
        Offence{BODY("x: R", "x + 1.0 = 0.0"), "cannot be written to"},
        Offence{BODY("", "else:\n        pass"), "belongs to no `if`"},
        Offence{BODY("n: size", "for _ in seq(0, n):\n        pass"), "only in patterns"},
        // names
        Offence{BODY("xylo: R", "xyla = 0.0"), "did you mean `xylo`"},
        Offence{BODY("x: R", "y = 0.0"), "allocate it first"},
        Offence{BODY("x: R[4, 8, 2]", "r = x[1, 2]"), "a window: `r = x[1, 2, :]`"},
        Offence{BODY("x: R[4, 8]", "r = x"), "a window: `r = x[:, :]`"},
        Offence{BODY("x: R, i: index", "x = inf"), "there is no infinity"},
        Offence{BODY("x: R", "x = M_PI"), "write `3.14159"},
        Offence{BODY("x: u8", "x = 0"), "did you mean `ui8`"},
        Offence{BODY("x: i64", "x = 0"), "no type `i64`\nhint: data is i8,"},
        Offence{BODY("x: R", "x = y"), "nothing here is named `y`"},
        Offence{BODY("x: R", "g(x)"), "no procedure `g`"},
        Offence{BODY("x: R", "f(x)"), "no procedure `f`"},
        Offence{BODY("x: R @ DRUM", "x = 0.0"), "did you mean `DRAM`"},
        Offence{BODY("x: f33", "x = 0.0"), "did you mean `f32`"},
        Offence{BODY("x: R", "x = sine(x)"), "did you mean `sin`"},
        Offence{BODY("x: R", "x = popcount(x)"), "hint: the functions are fabs, fmax, fmin,"},
        Offence{BODY("x: R, y: R[4, 4]", "x = sum(y)"), "a sum is a loop with `+=`"},
        Offence{BODY("x: R", "x = max(x, x, 0.0)"), "and takes two: write `fmax(x, fmax(x, 0.0))`"},
        Offence{BODY("n: int, x: R[n]", "pass"), "made of is a `size`"},
        Offence{BODY("x: int[4]", "pass"), "did you mean `i32`"},
        // words that are taken
        Offence{BODY("x: R", "from: i32 = 0"), "`from` is a keyword and names nothing"},
        Offence{BODY("x: R", "in: f32"),
                "`in` is a keyword and names nothing\nhint: choose another "
                "name: `in_`"},
        Offence{BODY("x: R", "pass: f32 = x"), "`pass` is a keyword and names nothing"},
        Offence{BODY("x: R", "for = x"), "`for` is a keyword and names nothing"},
        Offence{BODY("x: R", "x = pass"), "found the keyword `pass`"},
        Offence{BODY("x: R", "Cfg.a = 1"), "no configuration named `Cfg`"},
        Offence{BODY("x: R, x: R", "x = 0.0"), "two arguments"},
        Offence{"@proc\ndef f():\n    pass\n@proc\ndef f():\n    pass\n", "defined twice"},
        Offence{BODY("x: R", "if 1 < 2:\n        y : R\n    y = 0.0"), "nothing here is named `y`"},
        Offence{"from nowhere import *\n", "no target `nowhere`"},
        // control and data
        Offence{BODY("x: R", "if x < 1.0:\n        x = 0.0"), "data never decides"},
        Offence{BODY("x: R, y: R[4]", "y[x] = 0.0"), "data chooses no element"},
        Offence{BODY("x: i32", "for i in seq(0, x):\n        pass"), "loops run between sizes"},
        Offence{BODY("x: i32", "y: f32[x]"), "sizes are arguments"},
        Offence{BODY("i: index, n: size", "for j in seq(0, min(i, n)):\n        pass"),
                "write `for j in seq(0, n):`, and in it `if j < i:`"},
        Offence{BODY("i: index, n: size", "for j in seq(max(0, i - 2), n):\n        pass"),
                "write `for j in seq(0, n):`, and in it `if i - 2 <= j:`"},
        Offence{BODY("i: index, n: size, x: R[n]", "x[min(i, n)] = 0.0"),
                "the branches of `if i < n:`, or an `assert`"},
        Offence{BODY("n: size, x: R[n]", "for j in seq(0, len(x)):\n        pass"),
                "sizes have names: write `n`"},
        Offence{BODY("x: R, n: size", "x = n"), "write `f32(n)`"},
        Offence{BODY("x: R, n: size", "x = R(n)"), "not decided yet"},
        // one text for several procedures
        Offence{"for i in seq(0, 3):\n    pass\n", "outside of procedures runs over a list"},
        Offence{"for T, n in [(f32, 4), f64]:\n    pass\n", "`for` names 2, and here are 1"},
        Offence{"for T in [f32]:\npass\n", "expected an indented block"},
        Offence{"for T in [[f32]]:\n    pass\n", "expected a string, a number or a name"},
        Offence{"for T in [f32]:\n    @proc\n    def f(x: $S):\n        pass\n",
                "found `$S`, which no `for` around names"},
        Offence{"for T in [f32]:\n    @instr('f_$To')\n    def f(x: $T):\n        pass\n",
                "`$To` is given no value"},
        Offence{"for T in ['f32\\nf64']:\n    @proc\n    def f(x: $T):\n        pass\n",
                "`$T` is more than one line here"},
        Offence{"for T in ['(']:\n    @proc\n    def f(x: $T):\n        pass\n",
                "`$T` is `(` here: this `(` is never closed"},
        Offence{"for T in [f32, f32]:\n    @proc\n    def f(x: $T):\n        pass\n",
                "`f` is defined twice"},
        Offence{BODY("x: R", "x = $T"), "found `$T`, which no `for` around names"},
        Offence{BODY("x: R", "x = ${T"), "is never closed"},
        Offence{BODY("x: R, n: size", "x = size(n)"), "no type of data"},
        Offence{BODY("x: R[4]", "x[f32(0)] = 0.0"), "data never decides"},
        Offence{BODY("x: R", "x = abs(x)"), "called `fabs`"},
        Offence{BODY("n: size, b: bool", "if b == n:\n        pass"), "compared with a number"},
        Offence{BODY("a: bool, b: bool", "if a < b:\n        pass"), "have no order"},
        Offence{BODY("x: R, n: size", "n = 3"), "control value (size)"},
        Offence{BODY("x: R", "x = 1.0 < 2.0"), "cannot be used as data"},
        Offence{BODY("x: R", "x = x % 2.0"), "no `%` on data"},
        Offence{BODY("n: size, m: size", "for i in seq(0, n * m):\n        pass"),
                "write two loops, one in the other: to `n`, and to `m`"},
        Offence{BODY("n: size, m: size, x: R[n * m]", "pass"),
                "write a dimension for each: `x: f32[n, m]`"},
        Offence{BODY("n: size, i: index, x: R[n]", "x[(i + 1) * n] = 0.0"),
                "`n` is a dimension then: declare `x: f32[.., n]`, and write `x[i + 1, ..]`"},
        Offence{BODY("n: size, d: size, x: R[n]",
                     "for t in seq(0, n):\n        for k in seq(0, 3):\n            x[t + k * d] = "
                     "0.0"),
                "where `t` stays below `d`, `d` is a dimension: declare `x: f32[.., d]`, and write "
                "`x[k, t]`; else, where `d` takes few values, write a procedure for each: `for d"},
        Offence{BODY("n: size, m: size, x: R[m]",
                     "for j in seq(0, n):\n        for k in seq(0, 3):\n            x[k * n + j] = "
                     "0.0"),
                "hint: `n` is a dimension then"},
        Offence{BODY("n: size, m: size, i: index", "if i < n * m:\n        pass"),
                "must be a literal\nhint: indices stay affine"},
        Offence{BODY("n: size, m: size", "for i in seq(0, n / m):\n        pass"),
                "positive literal"},
        Offence{BODY("n: size, i: index, x: R[n]", "x[(i - 1) % n] = 0.0"),
                "`if i - 1 < 0:` with `i + n - 1`, and `else:` with `i - 1`"},
        Offence{BODY("n: size", "for i in seq(0, n % -2):\n        pass"), "positive literal"},
        Offence{BODY("n: size", "for i in seq(0, n / 0):\n        pass"), "positive literal"},
        Offence{BODY("n: size", "for i in seq(0, n // 2):\n        pass"), "no `//`"},
        Offence{BODY("n: size", "if n:\n        pass"), "a condition is wanted"},
        Offence{BODY("n: size", "for i in seq(0, n < 3):\n        pass"), "a number is wanted"},
        Offence{BODY("n: size", "for i in seq(0, 1.5):\n        pass"), "not of floats"},
        // shapes
        Offence{BODY("x: R[4]", "x[0, 1] = 0.0"), "has 1 dimension"},
        Offence{BODY("x: R", "x[0] = 0.0"), "is a scalar"},
        Offence{BODY("x: R[4]", "x = 0.0"), "no index"},
        Offence{BODY("x: R[4], y: R", "y = x[0:2] + 1.0"), "cannot be used as a value"},
        Offence{BODY("x: R[4]", "w = x[0:2, 0:2]"), "has 1 dimension"},
        Offence{BODY("", "w : [R][4]"), "an allocation is dense"},
        Offence{BODY("", "n : size"), "only data is allocated"},
        Offence{BODY("n: size[4]", "pass"), "no tensors of `size`"},
        Offence{BODY("n: size @ DRAM", "pass"), "lives in no memory"},
        Offence{BODY("x: [R]", "pass"), "the window's sizes"},
        Offence{BODY("x: R[4]", "if stride(x, 1) == 1:\n        pass"), "1 dimension, numbered"},
        Offence{BODY("x: R", "if stride(x, 0) == 1:\n        pass"), "no strides"},
        Offence{
            BODY("x: R", "x = select(x, x)"),
            "takes 4 arguments, not 2\nhint: `select(a, b, c, d)` is `c` where a < b, else `d`"},
        Offence{BODY("x: R, y: R", "x = select(x < 0.0, y, x)"), "write `select(x, 0.0, y, x)`"},
        Offence{BODY("x: R, y: R", "x = select(x >= 0.0, y, x)"), "write `select(x, 0.0, x, y)`"},
        Offence{BODY("x: R, y: R", "x = select(x > 0.0, y, x)"), "write `select(0.0, x, y, x)`"},
        Offence{BODY("x: R", "x = fmax(x)"), "takes 2 arguments, not 1"},
        // calls
        Offence{"@proc\ndef g(x: R[4]):\n    pass\n" BODY("y: R[8]", "g(y[0:4])"),
                "takes no window"},
        Offence{"@proc\ndef g(x: R[4]):\n    pass\n" BODY("y: [R][4]", "g(y)"), "is a window"},
        Offence{"@proc\ndef g(x: [R][4]):\n    pass\n" BODY("y: R[8, 8]", "g(y)"),
                "1 dimensions, not 2"},
        Offence{"@proc\ndef g(x: [R][4]):\n    pass\n" BODY("y: R[8, 8]", "g(y[0:4, 0:4])"),
                "not 2"},
        Offence{"@proc\ndef g(x: R):\n    pass\n" BODY("y: R", "g(y + 1.0)"), "a scalar in memory"},
        Offence{"@proc\ndef g(x: R):\n    pass\n" BODY("y: R", "g(y, y)"),
                "takes 1 arguments, not 2"},
        Offence{"@proc\ndef g(n: size):\n    pass\n" BODY("y: R", "g(y)"), "data never decides"},
        Offence{"@proc\ndef g(n: size):\n    pass\n" BODY("y: R", "y = g(3)"), "returns nothing"},
        // declarations
        Offence{"@memory\nclass M:\n    count = 3\n", "does not say its `kind`"},
        Offence{"@memory\nclass M:\n    kind = 'stak'\n", "did you mean `stack`"},
        Offence{"@memory\nclass M:\n    kind = 'stack'\n    byte = 3\n", "did you mean `bytes`"},
        Offence{"@memory\nclass M:\n    kind = 'stack'\n    alignment = 3\n", "power of two"},
        Offence{"@memory\nclass DRAM:\n    kind = 'stack'\n", "built in"},
        Offence{"@config\nclass C:\n    x : f33\n", "no type `f33`"},
        Offence{"@memory\nclass M:\n    kind = \"vector\"\n    c_types = {\"f33[4]\": \"v\"}\n",
                "no type of data `f33`"},
        Offence{"@memory\nclass M:\n    kind = \"vector\"\n    bytes = 16\n    c_types = "
                "{\"size[1]\": \"v\"}\n",
                "no type of data `size`"},
        Offence{"@memory\nclass M:\n    kind = \"vector\"\n    c_types = {\"f32[]\": \"v\"}\n",
                "`f32[]` is no type with a number of elements\nhint: a register holds `f32`"},
        Offence{"@memory\nclass M:\n    kind = \"vector\"\n    c_types = {\"f32[4\": \"v\"}\n",
                "`f32[4` is no type with"},
        Offence{"@memory\nclass M:\n    kind = \"vector\"\n    bytes = 16\n    c_types = "
                "{\"f32[4]\": \"v\"}\n",
                "`f32[4]` does not leave room in a register of 16 bytes\nhint: what fills one is "
                "`f32`"},
        Offence{"@instr(3)\ndef f():\n    pass\n", "a C template"},
        Offence{"@instr()\ndef f():\n    pass\n", "needs a C template"},
        Offence{"@instr('a', cots = 1)\ndef f():\n    pass\n", "did you mean `cost`"},
        Offence{"N = 9223372036854775807 + 1\n", "fits in 64 bits"},
        Offence{"N = 1.0 / 0.0\n", "a constant is a number"},
        Offence{"N = sqrt(2.0)\n", "literals and `+ - * /` of them"},
        Offence{"N = 1.5\nN = 2\n", "defined twice"},
        Offence{"N = 1.5\n" BODY("n: size", "for i in seq(0, N):\n        pass"),
                "`N` is a number with a fraction"}));

TEST(Parser, constants_with_a_fraction_are_literals_of_data) {
  const std::string text =
      "PI = 3.25\nHALF = -PI / 2\nW = 4\nSCALE = W * 0.5\n@proc\ndef f(x: f64, y: f64[W]):\n"
      "    x = PI * x + HALF\n    y[W - 1] = SCALE * W\n";
  EXPECT_EQ(str(*parse_module(text, "f").procs[0]),
            str(*parse_module("@proc\ndef f(x: f64, y: f64[4]):\n    x = 3.25 * x + -1.625\n"
                              "    y[4 - 1] = 2.0 * 4\n",
                              "f")
                     .procs[0]));
}

TEST(Parser, refuses_a_nul_character) {
  EXPECT_THROW(parse_module(std::string_view("@proc\0\n", 7), "nul"), InputError);
}

TEST(Parser, deep_nesting_is_an_error_and_no_overflow) {
  std::string open(100000, '('), minus, chain = "1.0";
  for (int k = 0; k < 100000; ++k) minus += "- ", chain += " + 1.0";
  for (const std::string& e : {open + "1.0", minus + "x", chain}) {
    EXPECT_THROW(parse_module("@proc\ndef f(x: R):\n    x = " + e + "\n", "deep"), InputError);
  }
  std::string loops = "@proc\ndef f(x: R):\n", elifs = loops + "    if 1 < 2:\n        pass\n";
  for (int k = 1; k < 3000; ++k) {
    loops += std::string(static_cast<size_t>(k), ' ') + "for i in seq(0, 1):\n";
    elifs += "    elif 1 < 2:\n        pass\n";
  }
  EXPECT_THROW(parse_module(loops, "deep"), InputError);
  EXPECT_THROW(parse_module(elifs, "deep"), InputError);
}

// A remainder has its operand twice, and each of its operands again.
TEST(Parser, many_operations_on_bits_are_refused_soon) {
  std::string masks = "x";
  for (int k = 0; k < 60; ++k) masks = "(" + masks + " & 1)";
  try {
    parse_module("@proc\ndef f(x: i32):\n    x = " + masks + "\n", "f");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_LT(e.diagnostic().hint.str().size(), 1000u);
  }
}

TEST(Parser, large_expressions_are_read_printed_and_released) {
  std::string sum = "1.0", nest = "x";
  for (int k = 1; k < 499; ++k) sum += " + x";
  for (int k = 0; k < 150; ++k) nest = "x - (" + nest + ")";
  Module m = parse_module("@proc\ndef f(x: R):\n    x = " + sum + "\n    x = " + nest + "\n", "f");
  expect_round_trip(m);
  // brackets do not get around the limit
  std::string tower = sum;
  for (int k = 0; k < 100; ++k) tower = "(" + tower + ") + " + sum;
  EXPECT_THROW(parse_module("@proc\ndef f(x: R):\n    x = " + tower + "\n", "f"), InputError);
}

TEST(Parser, the_decorator_of_a_proc_may_be_left_out) {
  EXPECT_EQ(parse_module("def f(x: R):\n    x = 0.0\n", "f").user_procs().size(), 1u);
}

TEST(Parser, errors_point_at_the_word) {
  try {
    parse_module("@proc\ndef f(x: R):\n    x = 1.0 +\n        y\n", "f.exo");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostic().where.line, 3);
    EXPECT_EQ(e.diagnostic().where.column, 14);
  }
}

}  // namespace
}  // namespace exotune
