// NAME_workspace_bytes: how much scratch memory a call takes at most. The function follows the
// proc's control flow as far as sizes depend on it: a loop runs only when what it takes depends on
// its iterator, and of a condition on device state or strides both sides count.
#include "core/codegen/function_emitter.h"

namespace exotune::codegen {

bool FunctionEmitter::takes_scratch(const Block& b) const {
  bool takes = false;
  for_each_stmt(b, [&](const StmtPtr& s) {
    if (const auto* a = s->as<Alloc>()) takes |= scratch_.allocations.contains(a->name);
    if (const auto* c = s->as<Call>(); c && !c->callee->instr)
      takes |= file_.scratch.of(c->callee).needed;
  });
  return takes;
}

namespace {

/// Can the control arguments alone tell?
bool is_computable(const ExprPtr& e) {
  if (e->as<ReadConfig>() || e->as<StrideExpr>()) return false;
  for (const ExprPtr& c : expr_children(*e))
    if (!is_computable(c)) return false;
  return true;
}

/// Do sizes, call arguments, conditions or inner bounds in the block mention `s`?
bool sizes_mention(const Block& b, Sym s) {
  bool found = false;
  for_each_stmt(b, [&](const StmtPtr& stmt) {
    if (!stmt->as<Alloc>() && !stmt->as<Call>() && !stmt->as<For>() && !stmt->as<If>()) return;
    for (const ExprPtr& e : stmt_exprs(*stmt)) found |= mentions(e, s);
  });
  return found;
}

}  // namespace

std::string FunctionEmitter::workspace_body() {
  const std::string most = names_.fresh("most");
  line("size_t " + most + " = 0;");
  workspace_block(proc_.body, "0", most);
  line("return " + most + ";");
  std::string unused;
  for (const AbiArg& a : signature_.args)
    if (a.kind == AbiArg::Kind::kControl || a.kind == AbiArg::Kind::kBool)
      unused += "  (void)" + a.name + ";\n";
  return "{\n" + unused + out_ + "}\n";
}

void FunctionEmitter::workspace_block(const Block& b, const std::string& outer,
                                      const std::string& most) {
  file_.needs.helpers.insert("EXO_TOO_MANY");
  file_.needs.helpers.insert("exo_workspace_take");
  names_.push();
  const std::string here = names_.fresh("here");
  line("size_t " + here + " = " + outer + ";");
  for (const StmtPtr& s : b) {
    if (const auto* a = s->as<Alloc>(); a && scratch_.allocations.contains(a->name)) {
      line(here + " = exo_plus(" + here + ", exo_workspace_size(" + scratch_bytes(*a) + "));");
    } else if (const auto* f = s->as<For>(); f && takes_scratch(f->body)) {
      names_.push();
      // Guarded even when it need not run: sizes inside may make sense only then.
      if (sizes_mention(f->body, f->iter)) {
        lower_[f->iter] = lower_bound(f->lo);
        const std::string lo = c(f->lo), hi = c(f->hi, Text::kAdd), iter = names_.bind(f->iter);
        line("for (int64_t " + iter + " = " + lo + "; " + iter + " < " + hi + "; " + iter +
             "++) {");
      } else {
        line("if (" + c(f->lo, Text::kAdd) + " < " + c(f->hi, Text::kAdd) + ") {");
      }
      ++indent_;
      workspace_block(f->body, here, most);
      --indent_;
      line("}");
      names_.pop();
    } else if (const auto* i = s->as<If>()) {
      const bool known = is_computable(i->cond);
      for (const Block* side : {&i->body, &i->orelse}) {
        if (!takes_scratch(*side)) continue;
        line(!known             ? "{"
             : side == &i->body ? "if (" + c(i->cond) + ") {"
                                : "if (!" + c(i->cond, Text::kPrimary) + ") {");
        ++indent_;
        workspace_block(*side, here, most);
        --indent_;
        line("}");
      }
    } else if (const auto* call = s->as<Call>();
               call && !call->callee->instr && file_.scratch.of(call->callee).needed) {
      std::string text = file_.functions.at(call->callee).name + "_workspace_bytes(", args;
      for (size_t k = 0; k < call->args.size(); ++k)
        if (is_control(call->callee->args[k].type.scalar))
          args += (args.empty() ? "" : ", ") + c(call->args[k]);
      text += args + ")";
      const std::string with = names_.fresh("with_" + file_.functions.at(call->callee).name);
      line("const size_t " + with + " = exo_plus(" + here + ", " + text + ");");
      line("if (" + with + " > " + most + ") " + most + " = " + with + ";");
    }
  }
  line("if (" + here + " > " + most + ") " + most + " = " + here + ";");
  names_.pop();
}

}  // namespace exotune::codegen
