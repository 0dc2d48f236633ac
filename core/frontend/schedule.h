#pragma once
// Schedule scripts (`FILE.sched`) as text: the syntax tree that core/library/script.h evaluates.
// Start at parse_schedule.
//
// Straight-line: one assignment or expression per statement, in Python's spelling. No control flow.
//
//   p = divide_loop(p, 'i', 8, ['io', 'ii'], tail='cut')
//   p, cs = auto_stage_mem(p, p.find_loop('k').body()[0], 'C', 'C_reg', rc=True)
//   p = reorder_loops(p, cs.load)
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/source_location.h"

namespace exotune {

/// An expression of a script; which fields count is said by its kind.
struct ScheduleExpr {
  enum class Kind : uint8_t {
    kNone,       // None
    kBool,       // True, False
    kInt,        // integer
    kFloat,      // number
    kString,     // text (adjacent literals are joined)
    kName,       // text
    kList,       // [children]
    kTuple,      // (children)
    kCall,       // children[0](children[1..], keywords)
    kAttribute,  // children[0].text
    kSubscript,  // children[0][children[1]]
    kSlice,      // children[0][children[1]:children[2]]; an absent end is kNone
    kNegate,     // -children[0]
    kBinary,     // children[0] op children[1]; text is "+", "-", "*", "//" or "%"
  };
  Kind kind = Kind::kNone;
  SourceLocation where;
  bool boolean = false;                // kBool
  int64_t integer = 0;                 // kInt
  double number = 0;                   // kFloat
  std::string text;                    // as its kind says
  std::vector<ScheduleExpr> children;  // as its kind says
  struct Keyword;
  std::vector<Keyword> keywords;  // kCall, in the order written
  int height = 1;                 // of this tree; bounded by the parser
};
struct ScheduleExpr::Keyword {
  std::string name;
  SourceLocation where;
  ScheduleExpr value;
};

/// One line, or several that brackets hold together.
struct ScheduleStmt {
  SourceLocation where;
  /// What is assigned to: a kName, or a kTuple of targets (`p, (alloc, load) = ...`), which
  /// unpacks. kNone: an expression statement.
  ScheduleExpr target;
  ScheduleExpr value;
  std::string text;  // the source, without its comment, for messages and records
};

struct ScheduleAst {
  std::string file;  // as named to parse_schedule, for messages
  std::vector<ScheduleStmt> stmts;
};

/// Throws InputError at the first offence: a loop, a definition, an operator that scripts have not.
/// What names mean is settled when the script runs.
ScheduleAst parse_schedule(std::string_view text, const std::string& file);

}  // namespace exotune
