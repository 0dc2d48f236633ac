#pragma once
// What exo-tune tells a user when it refuses: one structured Diagnostic, whose text is made only
// when it is printed. Start at Diagnostic and Error.
//
// Every error a user can cause is an Error subclass; the subclass names whose fault it is and the
// CLI maps it to an exit code. Our own bugs are EXO_CHECK failures, which raise InternalError.
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "core/base/source_location.h"

namespace exotune {

/// The process exit codes of the command line (docs/cli.md).
enum class ExitCode : int {
  kOk = 0,
  kInternal = 1,     // our fault
  kInput = 2,        // parse, type, refused step, unknown flag
  kNoCandidate = 3,  // no valid candidate
  kRequirement = 4,  // --require-... not met
  kMismatch = 5,     // verification mismatch
  kUnavailable = 6,  // runner, compiler or target not available
  kInterrupted = 130,
};

/// Text that is made when it is printed: hot paths pass a function, cold paths a string.
class LazyText {
 public:
  /// `message` stands as it is; `make` is called by each str(), so what it captures must outlive
  /// the text, or be captured by value (expressions are shared pointers: copy them).
  LazyText() = default;
  LazyText(std::string text) : text_(std::move(text)) {}  // NOLINT(runtime/explicit)
  LazyText(const char* text) : text_(text) {}             // NOLINT(runtime/explicit)
  LazyText(std::function<std::string()> make)
      : make_(std::move(make)) {}  // NOLINT(runtime/explicit)
  std::string str() const { return make_ ? make_() : text_; }
  bool empty() const { return !make_ && text_.empty(); }

 private:
  std::string text_;
  std::function<std::string()> make_;
};

/// The order of its parts is the order in which they are printed: where, what, why in detail, and
/// what to do about it. A diagnostic without a hint is accepted, one without a message is not.
struct Diagnostic {
  SourceLocation where;
  LazyText message;
  std::vector<LazyText> notes;        // operator stack, counter-example, the proc as it stood
  LazyText hint;                      // the next step for the user
  std::vector<Diagnostic> more = {};  // what else is wrong with the same text, in its order

  /// "file:line:col: error: ...\nnote: ...\nhint: ...\n", then those in `more`; `kind`: what stands
  /// for "error".
  std::string str(const std::string& kind = "error") const;
};

/// Whatever ends a command: its diagnostic is printed by `cli`, its code is the exit status. Thrown
/// by value, caught by reference; kInput is the user's to mend, kInternal ours.
class Error : public std::exception {
 public:
  explicit Error(Diagnostic d, ExitCode code = ExitCode::kInput)
      : diagnostic_(std::move(d)), code_(code) {}
  /// The diagnostic may be changed on the way up: callers that know more (the file, the operator
  /// that was running) add a note or fill in the place, and throw the same object on.
  const Diagnostic& diagnostic() const { return diagnostic_; }
  Diagnostic& diagnostic() { return diagnostic_; }
  ExitCode exit_code() const { return code_; }
  /// diagnostic().str() at the first call, and kept; for programs that catch std::exception.
  const char* what() const noexcept override;

 private:
  Diagnostic diagnostic_;
  ExitCode code_;
  mutable std::string what_;
};

/// Text that does not parse, a wrong type, a missing file, a bad flag.
class InputError : public Error {
 public:
  explicit InputError(Diagnostic d) : Error(std::move(d), ExitCode::kInput) {}
  InputError(SourceLocation where, LazyText message, LazyText hint = {})
      : Error(Diagnostic{std::move(where), std::move(message), {}, std::move(hint)}) {}
};

/// A rewrite whose obligation was not proved. Exo 2 section 3.3.
class SchedulingError : public Error {
 public:
  explicit SchedulingError(Diagnostic d) : Error(std::move(d), ExitCode::kInput) {}
  explicit SchedulingError(LazyText message, std::vector<LazyText> notes = {}, LazyText hint = {})
      : Error(Diagnostic{{}, std::move(message), std::move(notes), std::move(hint)}) {}
};

/// A cursor that points nowhere (any more), or at the wrong kind of thing.
class InvalidCursorError : public Error {
 public:
  explicit InvalidCursorError(LazyText message, LazyText hint = {})
      : Error(Diagnostic{{}, std::move(message), {}, std::move(hint)}) {}
};

/// A bug of ours; never reachable from user input.
class InternalError : public Error {
 public:
  explicit InternalError(LazyText message)
      : Error(Diagnostic{{}, std::move(message), {}, "please report this with the input"},
              ExitCode::kInternal) {}
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

#define EXO_CHECK(cond)                                              \
  do {                                                               \
    if (!(cond)) ::exotune::check_failed(#cond, __FILE__, __LINE__); \
  } while (false)

/// The candidate nearest to `word` by edit distance, or "" when none is near: for "did you mean".
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace exotune
