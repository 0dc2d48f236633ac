#pragma once
// Which cuts of a triangle are worth solving: heights of blocks, corners as triangles or squares,
// what rows share in strips. Start at TriangleCuts.
#include <functional>
#include <map>
#include <string>

#include "hw/target.h"
#include "search/moves/triangles.h"

namespace exotune {

class TriangleCuts {
 public:
  /// `precision`: of what the nest writes; `near_bytes`: of the second cache, where strips may stay
  /// where they lie. What is referred to must outlive this.
  TriangleCuts(const Target& target, ScalarType precision, const ValueList& instructions,
               int64_t near_bytes);

  /// A cut and how it was made ("triangle of strips"); false: no more of them.
  using Take = std::function<bool(const Schedule& cut, const std::string& how)>;

  /// The cuts of the nest, in the order in which they are worth the time. `inside`: the nest is a
  /// part of one that was cut, so that what its own rows share is too little for strips. None
  /// without vectors.
  void each(const Schedule& s, const Path& nest, const std::map<std::string, int64_t>& sizes,
            bool inside, const Take& take) const;

 private:
  bool each_in_strips(const Schedule& s, const Path& nest, const Take& take) const;
  bool each_of_strips(const Schedule& s, const Path& nest,
                      const std::map<std::string, int64_t>& sizes, const Take& take) const;
  void each_block(const Schedule& s, const Path& nest, bool summed, const Take& take) const;

  const Target& target_;
  const ScalarType precision_;
  const ValueList& instructions_;
  const int64_t lanes_, near_bytes_;
};

}  // namespace exotune
