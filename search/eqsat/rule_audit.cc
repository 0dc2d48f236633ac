#include "search/eqsat/rule_audit.h"

#include <functional>

#include "core/base/diagnostic.h"
#include "search/eqsat/evaluation.h"
#include "search/eqsat/rule_text.h"

namespace exotune::eqsat {
// Small problems on which every rule gets a chance to apply: products, sums, windows, chains, with
// symbolic and numeric sizes.
namespace {

// A graph and short words for what is put into it.
class Problem {
 public:
  Id op(AccessOp op, std::vector<int64_t> params, std::vector<Id> children) {
    const Id id = types.typed_add(graph, language.op(op, params), children);
    EXO_CHECK(id != kNoId);
    return id;
  }
  Id tensor(const std::string& name, std::vector<Size> dims, int64_t access) {
    return op(AccessOp::kAccess, {access}, {graph.add(language.tensor(name, std::move(dims)))});
  }
  Id product(Id a, Id b, int64_t shared = 0) {
    return op(AccessOp::kDot, {}, {op(AccessOp::kZip, {shared}, {a, b})});
  }
  Id sum(Id a, Id b, int64_t axes) {
    return op(AccessOp::kSum, {}, {op(AccessOp::kZip, {axes}, {a, b})});
  }
  Id columns(const std::string& name, Size k, Size n) {
    const Id b = op(AccessOp::kTranspose, {1, 0}, {tensor(name, {k, n}, 1)});
    return op(AccessOp::kAccess, {1}, {b});
  }
  // Windows over the last two of three axes: (H', W' | | C, r, r).
  Id windows(Size c, Size h, Size w, int64_t r, int64_t stride, int64_t dilation) {
    const Id image = tensor("image", {c, h, w}, 0);
    const Id rows = op(AccessOp::kWindow, {1, r, stride, dilation}, {image});
    return op(AccessOp::kWindow, {3, r, stride, dilation}, {rows});
  }

  OpTable ops;
  SizeTable sizes;
  AccessLanguage language{ops, sizes};
  AccessTypes types{language, true};
  EGraph graph{ops, &types};
};

struct NamedProblem {
  const char* name;
  std::function<void(Problem&)> build;
};

// Operators that programs are not lifted to by themselves, or that rules bring in: a rule about
// them is to meet them.
std::vector<NamedProblem> other_operators() {
  return {
      {"dense layer",
       [](Problem& p) {
         const Id rows = p.product(p.tensor("A", {3, 2}, 1), p.columns("B", 2, 2));
         const Id bias = p.op(AccessOp::kInsert, {0}, {p.tensor("bias", {2}, 1)});
         const Id all = p.op(AccessOp::kBroadcast, {0, 3}, {bias});
         p.op(AccessOp::kRelu, {}, {p.sum(rows, all, 2)});
       }},
      {"largest, product and sum of pairs",
       [](Problem& p) {
         const Id a = p.tensor("A", {2, 3}, 2), b = p.tensor("B", {2, 3}, 2);
         const Id pairs = p.op(AccessOp::kZip, {2}, {a, b});
         const Id both =
             p.sum(p.op(AccessOp::kMaximum, {}, {pairs}), p.op(AccessOp::kProduct, {}, {pairs}), 2);
         p.op(AccessOp::kNegate, {}, {p.op(AccessOp::kRelu, {}, {both})});
       }},
      {"product of rows in two parts",
       [](Problem& p) {
         const Id a =
             p.op(AccessOp::kConcat, {1}, {p.tensor("A", {2, 2}, 1), p.tensor("A2", {2, 2}, 1)});
         const Id b =
             p.op(AccessOp::kConcat, {1}, {p.tensor("B", {2, 2}, 1), p.tensor("B2", {2, 2}, 1)});
         p.product(a, b);
         p.op(AccessOp::kReduceSum, {}, {a});
         p.op(AccessOp::kReduceMax, {}, {b});
       }},
      {"product of two blocks of rows",
       [](Problem& p) {
         const Id a =
             p.op(AccessOp::kConcat, {0}, {p.tensor("A", {2, 2}, 1), p.tensor("A2", {2, 2}, 1)});
         const Id b =
             p.op(AccessOp::kConcat, {0}, {p.tensor("B", {2, 2}, 1), p.tensor("B2", {2, 2}, 1)});
         p.product(a, b);
       }},
      {"parts of padded rows",
       [](Problem& p) {
         const Id a = p.op(AccessOp::kPad, {1, 1, 1}, {p.tensor("A", {16, 2}, 1)});
         const Id b = p.op(AccessOp::kSlice, {1, 1, 5}, {p.tensor("B", {2, 6}, 1)});
         p.product(a, b);
         p.op(AccessOp::kReduceMax, {}, {a});
         p.op(AccessOp::kReduceMin, {}, {a});
         p.op(AccessOp::kReduceSum, {}, {a});
       }},
      {"turned rows and a diagonal",
       [](Problem& p) {
         const Id a = p.op(AccessOp::kReverse, {1}, {p.tensor("A", {3, 3}, 1)});
         const Id d = p.op(AccessOp::kDiagonal, {0}, {p.tensor("D", {3, 3, 3}, 2)});
         p.product(a, d);
         p.op(AccessOp::kReduceMax, {}, {p.op(AccessOp::kWindow, {1, 2, 1, 1}, {a})});
       }},
  };
}

std::vector<NamedProblem> problems() {
  const auto convolution = [](int64_t stride, int64_t dilation) {
    return [=](Problem& p) {
      const Size extent = 4 + (stride - 1) + (dilation - 1);
      p.product(p.windows(2, extent, extent, 2, stride, dilation),
                p.tensor("weights", {2, 2, 2, 2}, 1));
    };
  };
  const auto chain = [](int factors) {
    return [=](Problem& p) {
      const std::vector<Size> sizes = {3, 2, 4, 2, 3};
      Id left = p.tensor("A", {sizes[0], sizes[1]}, 1);
      for (int k = 1; k < factors; ++k) {
        const auto at = static_cast<size_t>(k);
        left = p.product(
            left, p.columns(std::string(1, static_cast<char>('A' + k)), sizes[at], sizes[at + 1]));
        if (k + 1 < factors) left = p.op(AccessOp::kAccess, {1}, {left});
      }
    };
  };
  return {
      {"product",
       [](Problem& p) {
         p.product(p.tensor("A", {4, 4}, 1), p.columns("B", 4, 4));
       }},
      {"product, odd sizes",
       [](Problem& p) {
         p.product(p.tensor("A", {3, 5}, 1), p.columns("B", 5, 3));
       }},
      {"product, B transposed",
       [](Problem& p) {
         p.product(p.tensor("A", {4, 4}, 1), p.tensor("B", {4, 4}, 1));
       }},
      {"batch of products",
       [](Problem& p) {
         p.product(p.tensor("A", {2, 4, 4}, 2), p.tensor("B", {2, 4, 4}, 2), 1);
       }},
      {"convolution", convolution(1, 1)},
      {"convolution, stride 2", convolution(2, 1)},
      {"convolution, dilated", convolution(1, 2)},
      {"convolution, one dimension",
       [](Problem& p) {
         const Id image = p.tensor("image", {2, 6}, 0);
         p.product(p.op(AccessOp::kWindow, {1, 3, 1, 1}, {image}),
                   p.tensor("weights", {2, 2, 3}, 1));
       }},
      {"convolution of each channel",
       [](Problem& p) {
         const Id w = p.windows(2, 4, 4, 2, 1, 1);  // (H', W' | | C, r, r)
         const Id c =
             p.op(AccessOp::kTranspose, {2, 0, 1, 3, 4}, {p.op(AccessOp::kAccess, {3}, {w})});
         p.product(c, p.tensor("weights", {2, 2, 2}, 1), 1);
       }},
      {"pooling, largest",
       [](Problem& p) { p.op(AccessOp::kReduceMax, {}, {p.windows(1, 4, 4, 2, 2, 1)}); }},
      {"pooling, least",
       [](Problem& p) { p.op(AccessOp::kReduceMin, {}, {p.windows(2, 5, 5, 3, 1, 1)}); }},
      {"pooling, sum",
       [](Problem& p) { p.op(AccessOp::kReduceSum, {}, {p.windows(1, 4, 4, 2, 2, 1)}); }},
      {"largest of a row",
       [](Problem& p) {
         p.op(AccessOp::kReduceMax, {}, {p.tensor("A", {32, 6}, 1)});
       }},
      {"chain of three products", chain(3)},
      {"chain of four products", chain(4)},
      {"product of a sum",
       [](Problem& p) {
         const Id b = p.sum(p.columns("B", 2, 3), p.columns("C", 2, 3), 1);
         p.product(p.tensor("A", {2, 2}, 1), b);
       }},
      {"sum of products",
       [](Problem& p) {
         const Id a = p.tensor("A", {2, 2}, 1);
         p.sum(p.product(a, p.columns("B", 2, 3)), p.product(a, p.columns("C", 2, 3)), 2);
       }},
  };
}

}  // namespace

// All rules together on each problem, then every class evaluated on random numbers: what a wrong
// rule united gives two values.
std::vector<AuditRow> audit_rules(const std::vector<RuleText>& texts,
                                  const std::map<std::string, int64_t>& constants,
                                  const Limits& limits) {
  std::vector<AuditRow> rows;
  std::vector<NamedProblem> all = problems();
  for (NamedProblem& named : other_operators()) all.push_back(std::move(named));
  for (const NamedProblem& named : all) {
    Problem p;
    named.build(p);
    std::vector<Rule> rules;
    for (const RuleText& text : texts)
      for (Rule& rule : parse_rules(text.text, text.file, p.types, constants))
        rules.push_back(std::move(rule));
    AuditRow row;
    row.problem = named.name;
    row.stop = saturate(p.graph, rules, limits).stop;
    row.nodes = p.graph.node_count();
    row.classes = p.graph.class_count();
    AuditReport report = audit(p.graph, p.types);
    row.checked = report.checked;
    row.wrong = std::move(report.wrong);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace exotune::eqsat
