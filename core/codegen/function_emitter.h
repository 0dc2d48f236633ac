#pragma once
// One proc as one C function. Internal to core/codegen; generate_c (file_writer.cc) drives it.
//
// Expressions are made with the precedence of their outermost operator, so that parentheses stand
// only where C needs them. Data names are bound to a Storage, which says how an element is written.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/queries.h"
#include "core/analysis/storage.h"
#include "core/codegen/c_names.h"
#include "core/codegen/codegen.h"
#include "core/codegen/scratch_plan.h"
#include "core/codegen/usage.h"
#include "core/ir/path.h"

namespace exotune::codegen {

/// C text with the precedence of its outermost operator.
struct Text {
  enum Precedence { kTernary = 1, kOr, kAnd, kEquality, kRelation, kAdd, kMul, kUnary, kPrimary };
  std::string s;
  int precedence = kPrimary;
  /// In parentheses unless it binds at least as tightly as `outer`.
  std::string in(int outer) const { return precedence >= outer ? s : "(" + s + ")"; }
};

/// One stride: an expression over what is in scope, or C text when only run time knows it. Strides
/// of dense arrays are expressions, so that constants fold; those of a caller's window are texts.
struct Stride {
  ExprPtr expr;
  std::string text;
};

/// How a data name is stored.
struct Storage {
  enum class Form : uint8_t {
    kScalar,   // a local variable, or a plain expression: NAME
    kPointer,  // *NAME
    kDense,    // NAME[row-major index]
    kWindow,   // NAME.data[sum of index * stride]
    kOpaque,  // not addressed by C: registers, scratchpads; only instructions and templates name it
  };
  Form form = Form::kScalar;
  std::string name;
  ScalarType type = ScalarType::kF32;
  MemoryPtr mem;
  bool is_const = false;
  std::vector<ExprPtr> shape;
  std::vector<Stride> strides;  // one per dimension; dense and windows
  // kOpaque: the allocation's name and, for each of its dimensions, where this view stands; the
  // view's dimension k is the allocation's dimension dims[k].
  Sym root;
  std::vector<ExprPtr> root_shape;
  std::vector<ExprPtr> offsets;
  std::vector<int> dims;
  int first_register = 0;
  int64_t byte_offset = 0;
};

/// What functions ask of the file around them.
struct FileNeeds {
  // Ordered containers: a file's text must not depend on addresses or on the order of calls.
  std::set<std::string> helpers;               // names of runtime_text.h helpers
  std::map<std::string, std::string> windows;  // struct name -> definition's key ("2f32c")
  std::vector<std::string> globals;            // c_global texts, in order of first use
  std::set<ConfigPtr> configs;
  bool scratch = false, math = false, parallel = false;
  /// Keeps the order of first use and drops repetitions: templates of several instructions share
  /// includes and helpers.
  void add_global(const std::string& text);
};

/// What a call needs to know of a function in the file.
struct Signature {
  std::string name;
  std::vector<AbiArg> args;      // context first when there is one
  bool takes_workspace = false;  // a last parameter `void* workspace`, and NAME_workspace_bytes
};

/// What one file's functions share while they are emitted, in the order callees first: needs grow,
/// signatures are added by the caller after each function.
struct FileContext {
  const CodegenOptions& options;
  FileNeeds& needs;
  UsageTable& usage;
  ScratchTable& scratch;
  const std::map<ProcPtr, Signature>& functions;  // those already emitted
  std::set<std::string> file_names;               // of all functions and structs
};

ScalarType decided(ScalarType t);  // R becomes f32
/// What the type is computed in: the emitted C rounds where the interpreter (core/interp) rounds.
ScalarType arithmetic_type(ScalarType t);  // f16 and bf16 compute in f32
std::string element_c_type(ScalarType t);  // f16 and bf16 are uint16_t
std::vector<Stride> dense_strides(const std::vector<ExprPtr>& shape);  // row-major
std::string window_struct(int rank, ScalarType t, bool is_const);
/// The C formals of a proc: names, types, const-ness.
Signature make_signature(const Proc& p, const Usage& usage, const std::string& c_name,
                         const std::string& stem, const std::set<std::string>& file_names);

/// Writes one function; one use each. The proc passed check(p, for code generation), so what is met
/// here can be expressed; where an emitter still finds that it cannot (a template without the hole
/// it needs), it throws an InputError at the statement. Output depends on the proc alone: two runs
/// write the same bytes.
class FunctionEmitter {
 public:
  /// `signature` is what callers will use; `usage` says which formals are read, written or only
  /// passed on.
  FunctionEmitter(const Proc& p, const Usage& usage, const Signature& signature, FileContext& file);
  /// "{ ... }" with the function's statements.
  std::string body();
  /// "{ ... }" of NAME_workspace_bytes: follows the control flow and adds up what is live at once.
  std::string workspace_body();

 private:
  // emit_control.cc
  /// A control expression in int64_t arithmetic.
  Text control(const ExprPtr& e);
  /// C's division truncates: floor division needs a helper, unless the operands are known not to be
  /// negative.
  Text divide(const BinOp& b);
  /// A field of a configuration's struct; fields of none that is emitted are errors at `where`.
  std::string config_field(const Config& config, const std::string& field,
                           const SourceLocation& where);
  /// From the ranges of the variables in scope; nothing when it is not bounded below.
  std::optional<int64_t> lower_bound(const ExprPtr& e);
  std::string c(const ExprPtr& e, int outer = 0) { return control(e).in(outer); }
  /// The expression in parentheses where needed, or the text as it is.
  Text stride_text(const Stride& s);

  // emit_data.cc
  /// Data expressions are written in the type they are computed in, and converted where a type
  /// differs from its context; the conversion is the one that the interpreter makes.
  Text data(const ExprPtr& e, ScalarType type);  // a value of arithmetic_type(type)
  /// An element converted to the type it is computed in.
  Text load(Sym name, const std::vector<ExprPtr>& idx, ScalarType type,
            const SourceLocation& where);
  /// With C's operator, or a helper where C's differs (integer division, minima, wrapping).
  Text arithmetic(BinOpKind op, const ExprPtr& a, const ExprPtr& b, ScalarType type);
  /// A function of the math library by its name for the type, or a helper of the file's own.
  Text extern_call(const Extern& x, ScalarType type, const SourceLocation& where);
  Text unsigned_i32(const ExprPtr& e);  // i32 ring arithmetic, wrapped once outside
  /// Shortest text that reads back as the same value, with the suffix of its type.
  Text literal(const Const& c, ScalarType type);
  Text converted(Text value, ScalarType from, ScalarType to);
  std::string helper(const std::string& op, ScalarType type);  // "exo_max_f32", noted as needed

  // emit_storage.cc
  /// How a name of the program stands in C. EXO_CHECK when nothing was bound: the checker has seen
  /// every name.
  const Storage& storage(Sym s, const SourceLocation& where) const;
  std::string element(const Storage& s, const std::vector<ExprPtr>& idx);  // an lvalue
  /// The row-major index, or the sum of index times stride; terms that are 0 are left out.
  std::string index_text(const Storage& s, const std::vector<ExprPtr>& idx);
  Storage view(const ExprPtr& e);  // of a Read or WindowExpr; no statement is made
  std::string address(const Storage& s, const std::vector<ExprPtr>& idx);  // "&A[...]" or "A"
  /// The text of a register or of a place in a scratchpad; C itself cannot take its address.
  std::string opaque_element(const Storage& s, int outer, const SourceLocation& where);
  ExprPtr flat_index(const Storage& s,
                     const std::vector<ExprPtr>& at);  // row-major, of the allocation
  ExprPtr byte_offset(const Storage& s, const std::vector<ExprPtr>& at);  // in the scratchpad
  /// Which register a view's offset means, counted from the first of its allocation.
  ExprPtr opaque_register(const Storage& s, const SourceLocation& where);
  /// Base address and strides of a window expression, ready for a struct literal.
  struct WindowParts {
    std::string data;
    std::vector<Stride> strides;
    ScalarType type;
  };
  WindowParts window_parts(const ExprPtr& e);
  std::string window_literal(const WindowParts& w, bool is_const);
  /// A template of a memory (alloc, read, write, free) with its holes filled in.
  std::string expand_memory(const Storage& s, const std::string& op,
                            const std::vector<ExprPtr>& idx, const std::string& value,
                            const SourceLocation& where);

  // emit_stmt.cc
  /// Opens the scopes that the block needs, emits its statements and gives scratch memory back.
  void block(const Block& b, const Path& owner, Child child);
  /// `position` in `scope`: an allocation asks what follows it.
  void stmt(const StmtPtr& s, const Block& scope, size_t position);
  /// `=` with the element's conversion, by the memory's template where it has one.
  void assign(const Assign& a, const SourceLocation& where);
  void reduce(const Reduce& r, const SourceLocation& where);
  /// The right side as the element's memory type holds it.
  std::string stored(const ExprPtr& rhs, ScalarType type);
  void write_config(const WriteConfig& w, const SourceLocation& where);
  /// How often a loop is written out: loops over registers must be, since C cannot index registers.
  int64_t unroll_count(const For& f);
  /// Compilers are asked not to write it out: what they make of long functions is longer and no
  /// faster.
  bool stays_loop(const For& f) const;
  /// A cast to void for each formal that the body does not mention; generated C is clean of
  /// warnings.
  std::string unused_parameters(const std::string& checks) const;
  /// `for`; parallel loops under `#pragma omp parallel for`, which compilers without OpenMP do not
  /// see.
  void loop(const For& f);
  /// A loop that runs once is a block with a constant.
  bool single_iteration(const For& f);
  void branch(const If& i);

  // emit_comment.cc
  /// "pack B into B_pack (64 x 128)" above a loop of which that is all; "" for others.
  std::string loop_comment(const For& f) const;
  /// The names in words for comments: buffers with their shape.
  std::string described(const std::set<Sym>& names, bool with_shape) const;
  /// Every one of them lies in vector registers.
  bool in_registers(const std::set<Sym>& names) const;

  // emit_declaration.cc
  /// Notes a declaration whose text may join the first assignment.
  void declare(const std::string& type, const std::string& name);
  /// A local that is declared where it is first assigned reads better, and may be const:
  /// declarations therefore wait until the next assignment in their block.
  std::string initialised(const std::string& assignment);
  std::string with_declarations(const std::string& text) const;

  // emit_alloc.cc
  /// Registers, a stack array or scratch memory, as the memory and the plan say.
  void allocate(const Alloc& a, const Block& scope, size_t position, const SourceLocation& where);
  /// Registers become variables of the vector type, one a register or an array of them.
  void allocate_vector(const Alloc& a, Storage* s, const Block& scope, size_t position,
                       const SourceLocation& where);
  void allocate_array(const Alloc& a, Storage* s, const SourceLocation& where);
  void allocate_shared(const Alloc& a, Storage* s, const SourceLocation& where);
  /// Bytes of the allocation, as an expression in C.
  std::string scratch_bytes(const Alloc& a);
  /// Scratch memory is a stack: a block that takes some notes where it began and gives it back.
  void take_scratch_mark();
  void release_scratch(const std::string& mark);
  /// A pointer for a single element, a struct for more; of registers only another name for the
  /// place.
  void window_stmt(const WindowStmt& w);

  // emit_workspace.cc
  /// NAME_workspace_bytes repeats the control flow and adds up what is live at once, so that a
  /// caller may hand over the memory: nothing is allocated in a call then.
  bool takes_scratch(const Block& b) const;
  /// Follows branches, and loops where sizes inside change with them; `most` becomes the largest
  /// sum.
  void workspace_block(const Block& b, const std::string& outer, const std::string& most);

  /// Appends to the output at the present indentation.
  void line(const std::string& text);
  void lines(const std::string& text);

  // emit_call.cc
  /// Calls of procs by name; instructions by their template, whose holes are filled with the text
  /// of arguments. A hole that stands alone takes the text as it is, an enclosed one needs
  /// parentheses.
  void call(const Call& call, const SourceLocation& where);
  /// Only where an instruction is called: its template, with the holes filled in.
  void instruction(const Call& call, const SourceLocation& where);
  /// How an actual argument is passed for the formal's place in the ABI.
  std::string argument(const AbiArg& formal, const ExprPtr& actual);
  std::string hole(const Call& call, const std::string& name, bool enclosed,
                   const SourceLocation& where);

  const Proc& proc_;
  const Usage& usage_;
  const Signature& signature_;
  FileContext& file_;
  NameScopes names_;
  StoragePlan plan_;
  ScratchPlan scratch_;
  std::map<Sym, Storage> storage_;
  std::map<Sym, std::optional<int64_t>> lower_;  // of control variables in scope
  Path path_;                                    // of the statement being emitted
  std::string out_;
  /// A local variable whose declaration waits for its first assignment, in the same block.
  struct Declaration {
    std::string type, name;
    size_t at;  // in out_, where it stands otherwise
    bool joined = false;
  };
  std::vector<Declaration> declarations_;
  std::vector<std::vector<size_t>> waiting_;  // by open block
  bool commented_ = false;                    // an enclosing loop has a comment
  int indent_ = 1;
  std::vector<std::string> scratch_marks_;  // by open block: the C name of its mark, "" when none
  std::vector<std::vector<Sym>>
      freed_;               // by open block: allocations whose memory has a `free` template
  std::string workspace_;   // the caller's workspace from here on; "" with an arena
  int parallel_depth_ = 0;  // enclosing loops that threads share
  int statements_ = 0;      // of the function
  int64_t unrolled_ = 1;    // product of the trip counts of enclosing unrolled loops
};

}  // namespace exotune::codegen
