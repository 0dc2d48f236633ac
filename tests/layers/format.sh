#!/bin/sh
# Every source as clang-format writes it (.clang-format). Another version of the tool breaks lines
# elsewhere, so only Debian 12's is asked; 77 tells CTest that the test was skipped. Templates of C
# (kernels/families) and C that exo-tune wrote (tests/golden, out) are no sources of ours.
cd "$(dirname "$0")/../.." || exit 1
version=$(clang-format --version 2>/dev/null) || { echo "skipped: no clang-format here"; exit 77; }
case $version in
  *"version 14."*) ;;
  *) echo "skipped: $version is not 14"; exit 77 ;;
esac
find . \( -path ./build -o -path ./out -o -path ./kernels -o -path ./tests/golden \) -prune -o \( -name '*.cc' -o -name '*.h' \) -print0 |
  xargs -0 clang-format --dry-run --Werror
