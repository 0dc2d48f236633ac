#pragma once
// What a kind of Spec and a layout are called in a stored memo, where each has a number: a text
// that says all of it, so that two processes that read one file mean the same. Start at name_of.
#include <string>

#include "search/dp/spec.h"
#include "search/dp/tensor_layout.h"

namespace exotune {

std::string name_of(const SpecKind& kind);
std::string name_of(const TensorLayout& layout);

/// The inverse. InputError for what name_of cannot have written: a file that is damaged.
SpecKind kind_named(const std::string& name);
TensorLayout layout_named(const std::string& name);

}  // namespace exotune
