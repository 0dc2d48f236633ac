#include "cli/verbs.h"

#include "cli/session.h"

namespace exotune::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> kVerbs = {
      {"list", "what there is: kernels, targets", add_list_verb},
  };
  return kVerbs;
}

}  // namespace exotune::cli
