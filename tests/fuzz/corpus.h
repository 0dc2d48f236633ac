#pragma once
// Texts that mutation starts from.
#include <string>
#include <vector>

namespace exotune::fuzz {

inline const std::vector<std::string> kPatterns = {"for i in _: _",
                                                   "for i in _: _ #1",
                                                   "for _ in par(_, _): _",
                                                   "y[_] += _",
                                                   "y[i, j] max= _",
                                                   "t : _",
                                                   "v : f32[8]",
                                                   "if _: _",
                                                   "load8(_)",
                                                   "load8(v[0:8], y[i, _])",
                                                   "t = _; x = _",
                                                   "Cfg.scale = _",
                                                   "_ * _",
                                                   "A[_]",
                                                   "stride(w, 0)",
                                                   "sin(_)",
                                                   "-_",
                                                   "not b",
                                                   "pass",
                                                   "i",
                                                   "row[_] = 0.0",
                                                   "for i in _:\n    load8(_)\n    row = _",
                                                   "2.0 * t",
                                                   "i < 4 and j != 3",
                                                   "_",
                                                   "i_1 #2"};

inline const std::vector<std::string> kExpressions = {"4 * i + 3",
                                                      "n % 8 == 0 and not b",
                                                      "stride(w, 0) == 4",
                                                      "0 <= o < n",
                                                      "(n + 7) / 8 * 8 - -3",
                                                      "y[i, 0:8]",
                                                      "y[i, :]",
                                                      "w",
                                                      "acc[1:, 0]",
                                                      "2.0 * t + sin(y[i, 0]) / 3",
                                                      "select(t, 0.0, x, -1.0)",
                                                      "Cfg.n + 1",
                                                      "-(4)",
                                                      "True or b",
                                                      "1e-3 + t",
                                                      "-t * -2.0"};

inline const std::vector<std::string> kSchedules = {
    // each line doubles what there is
    "p = block_loop(p, 'j', [32, 64, 76], ['jo', 'j'], 'i')\np = block_loop(p, 'i', [6, 3, 2, 1], "
    "['io', 'i'])\np = block_loop(p, 'j', [32, 64, 76], ['jo', 'j'], 'i')\np = block_loop(p, 'i', "
    "[6, 3, 2, 1], ['io', 'i'])\n",
    "p = divide_loop(p, 'i', 4, ['io', 'ii'], tail='cut')\np = divide_loop(p, 'j', 8, ['jo', "
    "'ji'])\n"
    "p = simplify(p)\np = reorder_loops(p, 'ii j')\n",
    "p = sgemm\np = reorder_loops(p, 'k i')\np = reorder_loops(p, 'k j')\n"
    "p = stage_mem(p, 'for k in _: _', 'C[i, j]', 'acc')\np = set_memory(p, 'acc', SRAM)\n"
    "p = set_precision(p, 'acc', 'f64')\np = lift_alloc(p, 'acc', n_lifts=2)\n",
    "p = p.partial_eval(M=6, N=16, K=2)\nc = p.find('C[_] += _')\np = unroll_loop(p, 'k')\n"
    "p = fuse(p, 'i', 'i #1')\np = fission(p, p.find('for j in _: _').after())\n",
    "p = add_assertion(p, 'N % 8 == 0')\np = divide_loop(p, 'j', 8, ['jo', 'ji'], perfect=True)\n"
    "p = bind_expr(p, 'A[_]', 'a')\np = expand_dim(p, 'a', 8, 'ji')\np = lift_alloc(p, 'a')\n"
    "p = fission(p, p.find('a[_] = _').after())\np = replace_all(p, [load8])\n",
    "x = p.find_loop('k')\ny = x.body()[0].body().expand(0, 0)[0:1]\np, f = extract_subproc(p, y, "
    "'g')\n"
    "p = inline(p, 'g(_)')\np = cut_loop(p, x, 1)\np = join_loops(p, 'k', 'k #1')\n",
    "p = specialize(p, 'for j in _: _', ['N >= 1', 'N < 16'])\np = eliminate_dead_code(p, 'if _: "
    "_')\n"
    "p = insert_pass(p, p.body()[0].before())\np = delete_pass(p)\np = rename(p, 'other')\n"
    "p = shift_loop(p, 'k', 2)\np = parallelize_loop(p, 'i')\n",
    "avoid(load8)\np = keep_order(p)\nmax_unroll(4)\ntiles('k', [2, 4])\npin(p.find('C[_] += _'))\n"
    "p = block_loop(p, 'k', 4, ['ko', 'k'])\np = search(p, 'for j in _: _', "
    "tiles=[['j', [8]]])\nq = p.search(max_unroll=3)\n"};

inline const std::vector<std::string> kWords = {"for",
                                                "in",
                                                "seq",
                                                "par",
                                                "if",
                                                "else",
                                                "elif",
                                                "def",
                                                "@proc",
                                                "@instr",
                                                "class",
                                                "pass",
                                                "and",
                                                "or",
                                                "not",
                                                "assert",
                                                "(",
                                                ")",
                                                "[",
                                                "]",
                                                ":",
                                                ",",
                                                "=",
                                                "+=",
                                                "max=",
                                                "min=",
                                                "-=",
                                                "*=",
                                                "f64(",
                                                "log(",
                                                "==",
                                                "<=",
                                                "!=",
                                                "+",
                                                "-",
                                                "*",
                                                "/",
                                                "//",
                                                "%",
                                                "_",
                                                "0",
                                                "1",
                                                "-1",
                                                "8",
                                                "9223372036854775807",
                                                "9223372036854775808",
                                                "1.5",
                                                "1e308",
                                                "i",
                                                "j",
                                                "k",
                                                "n",
                                                "x",
                                                "y",
                                                "C",
                                                "A",
                                                "p",
                                                "R",
                                                "f32",
                                                "i8",
                                                "size",
                                                "index",
                                                "bool",
                                                "stride",
                                                "DRAM",
                                                "'",
                                                "\"",
                                                "\\",
                                                "#",
                                                "\n",
                                                "\n    ",
                                                "\t",
                                                ";",
                                                ".",
                                                "True",
                                                "None",
                                                "'i'",
                                                "'io'",
                                                "'j'",
                                                "'C'",
                                                "p.find_loop('i')",
                                                ".body()",
                                                ".parent()",
                                                "#0",
                                                "Cfg.n",
                                                "sin",
                                                "select",
                                                "{",
                                                "}",
                                                "\x01",
                                                "\xff"};

inline const std::vector<std::string> kTerms = {
    "(dot (zip[0] a (transpose[1,0] b)))", "(+ 1 (+ 2 (* x x)))", "a", "-3", "(f (f (f x)) y z)"};
inline const std::vector<std::string> kRules = {
    "rule a\n  (dot ?a) => (dot (merge[access(?a)] ?a))\n  if items(?a) >= 2\n",
    "# a comment\nrule b\n  (transpose[?p] (transpose[?q] ?a)) => (transpose[compose(?p, ?q)] "
    "?a)\n",
    "rule c\n  (zip[?n] (split[?s] ?a) ?b) => (split[?s] (zip[?n] ?a ?b))\n"
    "  if ?s.0 >= ?n.0 and ?s.0 < access(?a)\n",
    "rule d\n  (dot (zip[?n] ?a ?b)) => (dot (zip[?n] (split[?n.0, K] ?a) ?b))\n"
    "  if divides(K, axis(?a, ?n.0))\n"};

}  // namespace exotune::fuzz
