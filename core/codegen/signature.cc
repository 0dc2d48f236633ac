// The C interface of procs: parameter names, types, const-ness.
#include "core/codegen/function_emitter.h"

namespace exotune {
namespace codegen {

std::string window_struct(int rank, ScalarType t, bool is_const) {
  return "exo_win_" + std::to_string(rank) + name_of(decided(t)) + (is_const ? "c" : "");
}

Signature make_signature(const Proc& p, const Usage& usage, const std::string& c_name,
                         const std::string& stem, const std::set<std::string>& file_names) {
  Signature s;
  s.name = c_name;
  NameScopes names(file_names);
  if (usage.materialises_config) {
    AbiArg context;
    context.name = "ctxt";
    context.kind = AbiArg::Kind::kContext;
    context.c_type = stem + "_Context*";
    context.read = context.written = true;
    s.args.push_back(std::move(context));
  }
  for (const Arg& a : p.args) {
    AbiArg arg;
    arg.name = names.bind(a.name);
    arg.sym = a.name;
    arg.type = decided(a.type.scalar);
    if (is_control(a.type.scalar)) {
      arg.kind = a.type.scalar == ScalarType::kBool ? AbiArg::Kind::kBool : AbiArg::Kind::kControl;
      arg.c_type = c_name_of(a.type.scalar);
      s.args.push_back(std::move(arg));
      continue;
    }
    arg.shape = a.type.shape;
    arg.read = usage.read.contains(a.name);
    arg.written = usage.written.contains(a.name);
    const std::string qualified = (arg.written ? "" : "const ") + element_c_type(arg.type) + "*";
    if (a.type.window) {
      arg.kind = AbiArg::Kind::kWindow;
      arg.c_type = "struct " + window_struct(a.type.rank(), arg.type, !arg.written);
    } else {
      arg.kind = a.type.is_tensor() ? AbiArg::Kind::kTensor : AbiArg::Kind::kScalar;
      arg.c_type = qualified;
    }
    s.args.push_back(std::move(arg));
  }
  return s;
}

}  // namespace codegen

FunctionAbi describe_abi(const Proc& p, const std::string& stem) {
  codegen::UsageTable table;
  const std::string name = codegen::c_function_name(p.name);
  codegen::Signature s =
      codegen::make_signature(p, table.compute(p), name, codegen::c_identifier(stem), {name});
  return {std::move(s.name), std::move(s.args)};
}

}  // namespace exotune
