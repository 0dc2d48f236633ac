#include "hw/target.h"

#include <gtest/gtest.h>

#include <fstream>

namespace exotune {
namespace {
namespace fs = std::filesystem;

const fs::path kBuiltIn = fs::path(EXOTUNE_SOURCE_DIR) / "hw";
const fs::path kMadeUp = fs::path(EXOTUNE_SOURCE_DIR) / "tests/hw/madeup";

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.diagnostic().str();
  }
  return "accepted";
}

/// A copy of the made-up target in a folder of its own, with one text replaced by another.
class Broken {
 public:
  Broken(const std::string& file, const std::string& from, const std::string& to) {
    char name[] = "/tmp/exotune_target_XXXXXX";
    root_ = mkdtemp(name);
    fs::copy(kMadeUp / "vec4", root_ / "vec4");
    std::ifstream in(root_ / "vec4" / file);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    std::ofstream(root_ / "vec4" / file) << text;
  }
  ~Broken() { fs::remove_all(root_); }
  std::string file(const std::string& name) const { return (root_ / "vec4" / name).string(); }
  /// A further file beside the target's folder.
  void add(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::string refused() const {
    return refusal([&] { load_target("vec4", {root_}); });
  }
  TargetPtr load() const { return load_target("vec4", {root_}); }

 private:
  fs::path root_;
};

TEST(Target, a_made_up_machine_is_a_folder_of_text) {
  const TargetPtr t = load_target("vec4", {kBuiltIn, kMadeUp});
  EXPECT_EQ(t->name, "vec4");
  EXPECT_EQ(t->isa, "vec4");
  EXPECT_EQ(t->runner.kind, "native");
  EXPECT_EQ(t->vector_bits, 128);
  EXPECT_EQ(t->lanes_of(ScalarType::kF32), 4);
  EXPECT_EQ(t->lanes_of(ScalarType::kR), 4);
  EXPECT_EQ(t->lanes_of(ScalarType::kF64), 1);
  EXPECT_EQ(t->peak_of(ScalarType::kF32), 8);
  EXPECT_TRUE(t->predication);
  EXPECT_EQ(t->parameters.at("thread_start"), 1000);
  ASSERT_NE(t->vector_memory, nullptr);
  EXPECT_EQ(t->vector_memory->name, "VEC4");
}

TEST(Target, its_instructions_keep_the_order_of_the_text) {
  const TargetPtr t = load_target("vec4", {kMadeUp});
  std::vector<std::string> names;
  for (const ProcPtr& p : t->instructions()) names.push_back(p->name);
  EXPECT_EQ(names, (std::vector<std::string>{"v4_load", "v4_store", "v4_load_prefix",
                                             "v4_store_prefix", "v4_broadcast", "v4_fma",
                                             "v4_add_i32", "v4_load_i32", "v4_store_i32"}));
  EXPECT_EQ(t->instructions()[0]->instr->cost, 0.5);
  EXPECT_EQ(t->instructions()[0]->args[0].mem, t->vector_memory);
}

TEST(Target, levels_go_from_registers_to_memory) {
  const TargetPtr t = load_target("vec4", {kMadeUp});
  ASSERT_EQ(t->levels.size(), 3u);
  EXPECT_EQ(t->levels[0].memory, t->vector_memory);
  EXPECT_EQ(t->levels[0].bytes, 8 * 16);  // count times width
  EXPECT_TRUE(t->levels[1].is_cache());
  EXPECT_EQ(t->find_level("cache")->bytes, 32768);
  EXPECT_EQ(t->levels[2].memory, dram());
  EXPECT_EQ(t->find_level("attic"), nullptr);
}

TEST(Target, a_folder_can_be_named_directly) {
  EXPECT_EQ(load_target((kMadeUp / "vec4").string(), {})->name, "vec4");
  EXPECT_EQ(load_target((kMadeUp / "vec4").string() + "/", {})->name, "vec4");
}

TEST(Target, lists_what_the_folders_hold) {
  const std::vector<std::string> names = list_targets({kMadeUp, kBuiltIn, "/nowhere"});
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"vec4", "avx2", "avx512"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
}

TEST(Target, every_built_in_target_loads) {
  TargetLibrary library({kBuiltIn});
  for (const std::string& name : library.names()) {
    const TargetPtr t = library.load(name);
    EXPECT_FALSE(t->instructions().empty()) << name;
    EXPECT_FALSE(t->title.empty()) << name;
    EXPECT_EQ(library.load(name), t);
    for (const auto& [type, lanes] : t->lanes) {
      ASSERT_NE(t->vector_memory, nullptr);
      // Registers that C knows by a type of theirs, or that the text numbers.
      if (t->vector_memory->kind == MemoryKind::kVector) {
        EXPECT_TRUE(t->vector_memory->c_types.count(name_of(type))) << name << " " << name_of(type);
      }
      EXPECT_EQ(lanes * bytes_of(type), t->vector_memory->bytes) << name << " " << name_of(type);
    }
  }
}

TEST(Target, instruction_names_are_unique_across_the_built_in_targets) {
  TargetLibrary library({kBuiltIn});
  std::map<std::string, std::pair<std::string, ProcPtr>> owner;
  for (const std::string& name : library.names())
    for (const ProcPtr& p : library.load(name)->library.procs) {
      const auto [it, fresh] = owner.emplace(p->name, std::pair(name, p));
      // The same one where a target extends another.
      EXPECT_TRUE(fresh || it->second.second == p)
          << p->name << " in " << it->second.first << " and " << name;
    }
}

TEST(Target, one_that_extends_another_has_its_instructions_after_its_own) {
  TargetLibrary library({kBuiltIn});
  const std::vector<ProcPtr> base = library.load("avx512")->instructions(),
                             more = library.load("avx512_bf16")->instructions();
  ASSERT_GT(more.size(), base.size());
  EXPECT_EQ(more.front()->name, "mm512_dpbf16_ps");
  EXPECT_TRUE(std::equal(base.rbegin(), base.rend(), more.rbegin()));
  EXPECT_EQ(library.load("avx512")->vector_memory, library.load("avx512_bf16")->vector_memory);
  EXPECT_NE(library.load("avx512")->hash, library.load("avx512_bf16")->hash);
}

TEST(Target, extending_what_does_not_exist_is_refused) {
  const Broken broken("target.toml", "title =", "extends = \"no_such_target\"\ntitle =");
  EXPECT_THROW(broken.load(), InputError);
}

TEST(Target, its_hash_follows_its_text) {
  const std::string base = load_target("vec4", {kMadeUp})->hash;
  EXPECT_EQ(Broken("target.toml", "thread_start", "thread_start").load()->hash, base);
  EXPECT_NE(Broken("instructions.exo", "cost = 0.5", "cost = 0.25").load()->hash, base);
  EXPECT_NE(Broken("target.toml", "f32 = 8", "f32 = 9").load()->hash, base);
}

TEST(Target, an_import_finds_a_target_by_name) {
  TargetLibrary library({kMadeUp});
  const Module m = parse_module(
      "from vec4 import *\n@proc\ndef f(x: f32[4]):\n    r: f32[4] @ VEC4\n"
      "    v4_load(r[0:4], x[0:4])\n",
      "t.exo", library.importer());
  EXPECT_NE(m.find_proc("v4_load"), nullptr);
  ASSERT_EQ(m.user_procs().size(), 1u);
}

TEST(Target, an_import_of_an_unknown_target_is_refused_where_it_stands) {
  TargetLibrary library({kMadeUp});
  const std::string said =
      refusal([&] { parse_module("\nfrom vec5 import *\n", "t.exo", library.importer()); });
  EXPECT_EQ(said.rfind("t.exo:2:", 0), 0u) << said;
  EXPECT_NE(said.find("did you mean 'vec4'?"), std::string::npos) << said;
}

TEST(Target, an_unknown_name_is_refused_with_the_nearest) {
  EXPECT_NE(refusal([] { load_target("vec", {kMadeUp}); }).find("did you mean 'vec4'?"),
            std::string::npos);
  EXPECT_NE(refusal([] { load_target("zzzzzzzz", {kMadeUp}); }).find("known targets: vec4"),
            std::string::npos);
  EXPECT_NE(refusal([] { load_target("./no/where", {kMadeUp}); }).find("no target in './no/where'"),
            std::string::npos);
}

TEST(TargetErrors, unknown_key) {
  const Broken b("target.toml", "predication", "predicaton");
  EXPECT_EQ(b.refused(),
            b.file("target.toml") +
                ":14:1: error: unknown key 'predicaton'\nhint: did you mean 'predication'?\n");
}

TEST(TargetErrors, keys_that_nobody_reads) {
  for (const auto& [from, to] : {std::pair("kind = \"native\"", "kind = \"native\"\nisa = \"x\""),
                                 std::pair("[peak]", "[latency]\nfmaa = 4\n\n[peak]"),
                                 std::pair("thread_start", "thread_strat")}) {
    const Broken b("target.toml", from, to);
    EXPECT_NE(b.refused().find("error: unknown key '"), std::string::npos) << b.refused();
  }
  const Broken roles("target.toml", "[runner]", "[roles]\naccumulator = \"VEC4\"\n[runner]");
  EXPECT_NE(roles.refused().find("unknown key 'roles'"), std::string::npos) << roles.refused();
}

TEST(TargetErrors, figures_that_no_plan_reads_where_a_record_runs_the_code) {
  Broken b("target.toml", "kind = \"native\"", "kind = \"board\"\nwords = \"its own\"");
  b.add("runners/board.toml", "");
  EXPECT_EQ(b.refused(), "accepted");
  Broken wrong("target.toml", "kind = \"native\"", "kind = \"board\"\n[latency]\nfmaa = 4");
  wrong.add("runners/board.toml", "");
  EXPECT_NE(wrong.refused().find("unknown key 'fmaa'\nhint: did you mean 'fma'?"),
            std::string::npos)
      << wrong.refused();
}

TEST(TargetErrors, wrong_type) {
  const Broken b("target.toml", "width_bits = 128", "width_bits = 'wide'");
  EXPECT_EQ(b.refused(),
            b.file("target.toml") + ":11:14: error: 'width_bits' must be an integer\n");
}

TEST(TargetErrors, missing_key) {
  const Broken b("target.toml", "title = \"Four lanes in plain C\"", "");
  EXPECT_NE(b.refused().find("error: missing key 'title' (a string)"), std::string::npos)
      << b.refused();
}

TEST(TargetErrors, toml_syntax) {
  const Broken b("target.toml", "[peak]", "[peak");
  EXPECT_EQ(b.refused().rfind(b.file("target.toml") + ":16:", 0), 0u) << b.refused();
}

TEST(TargetErrors, a_memory_the_text_does_not_define) {
  const Broken b("target.toml", "memory = \"VEC4\"", "memory = \"VEC5\"");
  EXPECT_NE(b.refused().find(
                ":13:10: error: no memory 'VEC5' in this target\nhint: did you mean 'VEC4'?"),
            std::string::npos)
      << b.refused();
}

TEST(Target, says_which_stores_go_past_the_caches) {
  for (const char* name : {"avx2", "avx512", "avx512_vnni"}) {
    const TargetPtr t = load_target(name, {kBuiltIn});
    EXPECT_GE(t->streams.size(), 2u) << name;
    ASSERT_TRUE(t->stream_fence) << name;
    EXPECT_TRUE(t->stream_fence->args.empty()) << name;
  }
  EXPECT_TRUE(load_target("neon", {kBuiltIn})->streams.empty());
}

TEST(Target, says_which_instructions_estimate) {
  for (const char* name : {"avx2", "avx512", "avx512_amx"})
    EXPECT_GE(load_target(name, {kBuiltIn})->estimates.size(), 1u) << name;
  EXPECT_TRUE(load_target("neon", {kBuiltIn})->estimates.empty());
}

TEST(TargetErrors, a_store_past_the_caches_that_is_no_instruction) {
  const Broken b("target.toml", "predication", "streams = [\"no_such\"]\npredication");
  EXPECT_NE(b.refused().find("no instruction 'no_such' in this target"), std::string::npos)
      << b.refused();
}

TEST(TargetErrors, more_lanes_than_bits) {
  const Broken b("target.toml", "f32 = 4,", "f32 = 5,");
  EXPECT_NE(b.refused().find("5 lanes of f32 do not fit a vector of 128 bits"), std::string::npos);
}

TEST(TargetErrors, lanes_of_no_element_type) {
  const Broken b("target.toml", "f32 = 4,", "size = 4,");
  EXPECT_NE(b.refused().find("'size' is no element type"), std::string::npos) << b.refused();
}

TEST(TargetErrors, a_level_that_is_neither_memory_nor_cache) {
  const Broken b("target.toml", "bytes = 32768", "");
  EXPECT_NE(b.refused().find("level 'cache' has neither a memory nor bytes"), std::string::npos);
}

TEST(TargetErrors, a_listed_file_that_is_not_there) {
  const Broken b("target.toml", "instructions.exo", "instruction.exo");
  EXPECT_NE(b.refused().find(":3:9: error: no file 'instruction.exo'"), std::string::npos)
      << b.refused();
  EXPECT_NE(b.refused().find("did you mean 'instructions.exo'?"), std::string::npos) << b.refused();
}

TEST(TargetErrors, an_instruction_that_does_not_parse) {
  const Broken b("instructions.exo", "dst[i] = src[i]", "dst[i] = srk[i]");
  EXPECT_EQ(b.refused().rfind(b.file("instructions.exo") + ":6:", 0), 0u) << b.refused();
}

TEST(TargetErrors, a_target_that_imports_itself) {
  const Broken b("memory.exo", "LANES = 4", "from vec4 import *");
  EXPECT_EQ(b.refused().rfind(b.file("memory.exo") + ":1:", 0), 0u) << b.refused();
  EXPECT_NE(b.refused().find("target 'vec4' imports itself"), std::string::npos) << b.refused();
}

TEST(TargetErrors, an_instruction_defined_twice) {
  const Broken b("instructions.exo", "def v4_store(", "def v4_load(");
  EXPECT_EQ(b.refused().rfind(b.file("instructions.exo") + ":", 0), 0u) << b.refused();
  EXPECT_NE(b.refused().find("v4_load"), std::string::npos) << b.refused();
}

}  // namespace
}  // namespace exotune
