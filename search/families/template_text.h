#pragma once
// Text with places to fill in: what the templates of a family are made of. Start at expand.
#include <map>
#include <string>

#include "core/base/diagnostic.h"

namespace exotune::families {

/// What each ${name} stands for. Values may have places of their own.
using Substitution = std::map<std::string, std::string>;

/// `text` with every ${name} replaced. A line that holds places and nothing else disappears when
/// they are empty. InputError at `where` (the text's first line; the offence's line is counted on)
/// for a name that `values` lacks, a place that does not end, or values that contain themselves.
std::string expand(const std::string& text, const Substitution& values,
                   const SourceLocation& where);

/// `more` on top of `values`: what both have is `more`'s.
Substitution with(Substitution values, const Substitution& more);

}  // namespace exotune::families
