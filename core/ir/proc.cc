#include "core/ir/proc.h"

namespace exotune {

const Arg* Proc::find_arg(Sym s) const {
  for (const Arg& a : args)
    if (a.name == s) return &a;
  return nullptr;
}

ProcPtr with_body(const Proc& p, Block body) {
  auto out = std::make_shared<Proc>(p);
  out->body = std::move(body);
  out->provenance = nullptr;
  return out;
}

}  // namespace exotune
