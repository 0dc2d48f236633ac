#include "tests/emitted/driver_text.h"

namespace exotune::emitted {
namespace {

/// `static void call_K(void** a)`: every argument through a pointer.
std::string wrapper(const FunctionAbi& f, size_t number, const std::string& stem) {
  std::string text = "static void call_" + std::to_string(number) + "(void** a) {\n  (void)a;\n";
  std::string args;
  size_t next = 0;
  for (const AbiArg& a : f.args) {
    if (!args.empty()) args += ", ";
    if (a.kind == AbiArg::Kind::kContext) {
      text += "  static " + stem + "_Context context;\n  memset(&context, 0, sizeof context);\n";
      args += "&context";
      continue;
    }
    const std::string at = "a[" + std::to_string(next++) + "]";
    const bool by_value = a.kind == AbiArg::Kind::kControl || a.kind == AbiArg::Kind::kBool ||
                          a.kind == AbiArg::Kind::kWindow;
    args += by_value ? "*(" + a.c_type + "*)" + at : "(" + a.c_type + ")" + at;
  }
  return text + "  " + f.name + "(" + args + ");\n}\n";
}

constexpr const char* kMain = R"(
static int64_t number(FILE* in) {
  int64_t v = 0;
  if (fread(&v, sizeof v, 1, in) != 1) exit(9);
  return v;
}

struct window {
  void* data;
  int64_t strides[8];
};

int main(int argc, char** argv) {
  enum { kMost = 64 };
  FILE* in = fopen(argv[argc > 1 ? 1 : 0], "rb");
  FILE* out = fopen(argv[argc > 2 ? 2 : 0], "wb");
  int64_t next;
  while (in && out && fread(&next, sizeof next, 1, in) == 1) {
    char* blocks[kMost];
    size_t sizes[kMost];
    void* arguments[kMost];
    int64_t controls[kMost];
    struct window windows[kMost];
    const int64_t count = number(in);
    for (int64_t k = 0; k < count; k++) {
      sizes[k] = (size_t)number(in);
      blocks[k] = malloc(sizes[k] + 2 * GUARD);
      memset(blocks[k], 0x5A, sizes[k] + 2 * GUARD);
      blocks[k] += GUARD;
      if (sizes[k] && fread(blocks[k], sizes[k], 1, in) != 1) exit(9);
    }
    const int64_t formals = number(in);
    for (int64_t k = 0; k < formals; k++) {
      const int64_t kind = number(in);
      if (kind == 0) {
        controls[k] = number(in);
        arguments[k] = &controls[k];
        continue;
      }
      char* data = blocks[number(in)];
      arguments[k] = data;
      if (kind == 1) continue;
      windows[k].data = data + number(in);
      const int64_t rank = number(in);
      for (int64_t d = 0; d < rank; d++) windows[k].strides[d] = number(in);
      arguments[k] = &windows[k];
    }
    calls[next](arguments);
    for (int64_t k = 0; k < count; k++) {
      for (size_t g = 0; g < GUARD; g++)
        if (blocks[k][-1 - (int64_t)g] != 0x5A || blocks[k][sizes[k] + g] != 0x5A) {
          fprintf(stderr, "written outside of block %d of function %d\n", (int)k, (int)next);
          return 7;
        }
      fwrite(blocks[k], 1, sizes[k], out);
      free(blocks[k] - GUARD);
    }
    fflush(out);
  }
  return 0;
}
)";

}  // namespace

std::string driver_text(const CFile& file, bool exact) {
  std::string text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"" +
                     file.stem + ".h\"\n#define GUARD " + (exact ? "(size_t)0" : "(size_t)256") +
                     "\n";
  std::string table;
  for (size_t k = 0; k < file.functions.size(); ++k) {
    text += wrapper(file.functions[k], k, file.stem);
    table += (k ? ", call_" : "call_") + std::to_string(k);
  }
  return text + "static void (*const calls[])(void**) = { " + table + " };\n" + kMain;
}

std::string own_threads_text() {
  return R"(#include <pthread.h>
enum { kThreads = 4 };
static __thread int thread_number, team_size = 1;
struct member {
  void (*body)(void*);
  void* data;
  int number;
};
static void* run_member(void* argument) {
  struct member* m = argument;
  thread_number = m->number;
  team_size = kThreads;
  m->body(m->data);
  return 0;
}
int omp_get_thread_num(void) { return thread_number; }
int omp_get_num_threads(void) { return team_size; }
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  pthread_t others[kThreads];
  struct member members[kThreads];
  const int outer_number = thread_number, outer_size = team_size;
  (void)threads;
  (void)flags;
  for (int k = 0; k < kThreads; k++) {
    members[k].body = body;
    members[k].data = data;
    members[k].number = k;
    if (k) pthread_create(&others[k], 0, run_member, &members[k]);
  }
  run_member(&members[0]);
  for (int k = 1; k < kThreads; k++) pthread_join(others[k], 0);
  thread_number = outer_number;
  team_size = outer_size;
}
)";
}

}  // namespace exotune::emitted
