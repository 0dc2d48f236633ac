#include "search/dp/spelled_nest.h"

#include "core/base/diagnostic.h"

namespace exotune {

namespace {

// The text is our own (lift.cc), so nothing in it is refused: what does not parse is a fault of
// ours and stops the program.
//
// Reads back the statements that spell() writes: binary operators between parentheses, functions.
class StatementReader {
 public:
  StatementReader(std::string text, std::vector<ExprPtr> operands, ScalarType type)
      : text_(std::move(text)), operands_(std::move(operands)), type_(type) {}

  ExprPtr run() {
    ExprPtr e = factor();
    skip();
    while (at_ < text_.size() && text_[at_] != ')' && text_[at_] != ',') {
      const char op = text_[at_++];
      const BinOpKind kind = op == '+'   ? BinOpKind::kAdd
                             : op == '-' ? BinOpKind::kSub
                             : op == '*' ? BinOpKind::kMul
                                         : BinOpKind::kDiv;
      e = bin_op(kind, e, factor());
      skip();
    }
    return e;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  ExprPtr factor() {
    skip();
    EXO_CHECK(at_ < text_.size());
    if (text_[at_] == '-') {
      ++at_;
      return negate(factor());
    }
    if (text_[at_] == '(') {
      ++at_;
      ExprPtr e = run();
      ++at_;  // the closing one
      return e;
    }
    if (isalpha(text_[at_])) {
      Extern call;
      const size_t open = text_.find('(', at_);
      call.fn = text_.substr(at_, open - at_);
      at_ = open;
      while (text_[at_] != ')') {
        ++at_;  // '(' or ','
        call.args.push_back(run());
      }
      ++at_;
      return make_expr(std::move(call), type_);
    }
    if (text_[at_] == '$') {
      size_t end = at_ + 1;
      while (end < text_.size() && isdigit(text_[end])) ++end;
      const size_t number = std::stoul(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end;
      return operands_.at(number);
    }
    size_t used = 0;
    const double value = std::stod(text_.substr(at_), &used);
    at_ += used;
    return data_const(value, type_);
  }

  std::string text_;
  std::vector<ExprPtr> operands_;
  ScalarType type_;
  size_t at_ = 0;
};

struct SpelledOperand {
  Arg arg;
  std::vector<ExprPtr> index;  // of the element that one execution of the statement touches
};

SpelledOperand spell_operand(const OperandKind& operand, size_t number,
                             const std::vector<Sym>& loops, const std::vector<uint32_t>& sizes) {
  const OperandShape shape = operand_shape(operand, sizes.data());
  Type type{operand.type, {}, false};
  std::vector<ExprPtr> idx;
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    type.shape.push_back(int_const(shape.extents[d]));
    ExprPtr index;
    for (const SubscriptTerm& t : operand.subscripts[d]) {
      ExprPtr term = read_var(loops[t.dim], ScalarType::kIndex);
      if (t.coefficient != 1) term = int_const(t.coefficient) * term;
      index = index ? index + term : term;
    }
    idx.push_back(index ? index : int_const(0));
  }
  return {{Sym::fresh("x" + std::to_string(number)), type, dram()}, std::move(idx)};
}

StmtPtr spell_statement(const SpecKind& kind, const SpelledOperand& output,
                        const std::vector<ExprPtr>& reads) {
  const size_t space = kind.statement.find(' ');
  const std::string assignment = kind.statement.substr(0, space);
  const ExprPtr rhs =
      StatementReader(kind.statement.substr(space + 1), reads, output.arg.type.scalar).run();
  const Sym name = output.arg.name;
  if (assignment == "=") return make_assign(name, output.index, rhs);
  if (assignment == "+=") return make_reduce(name, output.index, rhs);
  return make_reduce(name, output.index, rhs,
                     assignment == "max=" ? ReduceOp::kMax : ReduceOp::kMin);
}

}  // namespace

ProcPtr spell_nest(const SpecKind& kind, const std::vector<int64_t>& extents) {
  auto p = std::make_shared<Proc>();
  p->name = "spec";
  std::vector<Sym> loops;
  std::vector<uint32_t> sizes;
  for (size_t d = 0; d < extents.size(); ++d) {
    loops.push_back(Sym::fresh("i" + std::to_string(d)));
    sizes.push_back(static_cast<uint32_t>(extents[d]));
  }
  std::vector<SpelledOperand> operands;
  std::vector<ExprPtr> reads;
  for (size_t i = 0; i < kind.operands.size(); ++i) {
    operands.push_back(spell_operand(kind.operands[i], i, loops, sizes));
    p->args.push_back(operands[i].arg);
    reads.push_back(read_elem(operands[i].arg.name, operands[i].index, kind.operands[i].type));
  }
  const SpelledOperand& output = operands.back();
  const ScalarType type = output.arg.type.scalar;
  // Operands of another type are converted before they meet in an operation; a copy converts alone.
  Block body;
  const bool copies = kind.statement == "= $0";
  for (size_t i = 0; i + 1 < kind.operands.size() && !copies; ++i) {
    if (kind.operands[i].type == type) continue;
    const Sym t = Sym::fresh("t" + std::to_string(i));
    body.push_back(make_stmt(Alloc{t, Type{type, {}, false}, dram()}));
    body.push_back(make_assign(t, {}, reads[i]));
    reads[i] = read_elem(t, {}, type);
  }
  body.push_back(spell_statement(kind, output, reads));
  for (size_t d = loops.size(); d-- > 0;)
    body = {make_for(loops[d], int_const(0), int_const(extents[d]), body)};
  p->body = body;
  return p;
}

}  // namespace exotune
