#pragma once
// A family of one kernel, as small as one can be; tests add what may be tried, and buckets.
namespace exotune::families {

inline constexpr const char* kTwice = R"(
title = "one"
[axis.p]
d = { T = "f64" }
[[kernel]]
name = "${p}twice"
for = ["p"]
code = '''
@proc
def ${name}(n: size, x: [${T}][n]):
    for i in seq(0, n):
        x[i] = 2.0 * x[i]
'''
schedule = "p = p\n"
)";

}  // namespace exotune::families
