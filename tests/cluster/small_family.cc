#include "tests/cluster/small_family.h"

namespace exotune::cli {
namespace fs = std::filesystem;

namespace {
constexpr const char* kKernels = R"(
[[kernel]]
name = "times${k}"
for = ["k"]
code = '''
@proc
def ${name}(n: size, x: [f32][n]):
    for i in seq(0, n):
        x[i] = ${factor} * x[i]
'''
schedule = "p = p\n"
tries = ["p = divide_loop(p, 'i', ${by}, ['io', 'ii'], tail='cut')\n"]
values = { by = ["2", "4"] }
buckets = [{ when = "n <= 8", at = "n=5" }, { at = "n=100" }]
)";
}  // namespace

std::string make_small_family(const CommandHarness& harness, int kernels) {
  const fs::path source = EXOTUNE_SOURCE_DIR;
  fs::create_directories(harness.folder() / "texts/kernels/families");
  fs::create_directory_symlink(source / "hw", harness.folder() / "texts/hw");
  for (const fs::directory_entry& file : fs::directory_iterator(source / "kernels/families"))
    if (file.path().extension() == ".c" || file.path().extension() == ".h")
      fs::copy_file(file.path(),
                    harness.folder() / "texts/kernels/families" / file.path().filename());
  std::string axis = "title = \"small\"\n[axis.k]\n";
  for (int k = 0; k < kernels; ++k)
    axis += "k" + std::to_string(k) + " = { factor = \"" + std::to_string(k + 2) + ".0\" }\n";
  harness.write("texts/kernels/families/small.toml", axis + kKernels);
  return (harness.folder() / "texts").string();
}

std::string ask_database(const CommandHarness& harness, const std::string& sql) {
  const CommandResult said = harness.run({"db", "query", sql, "--format", "csv"});
  const size_t line = said.out.find('\n');
  return line == std::string::npos ? said.err : said.out.substr(line + 1);
}

}  // namespace exotune::cli
