// docs/what-is-refused.md says what it shows: each ```exo program goes through the ```sched script
// after it and on to C, and is refused in the words of ```refused, gives the proc of ```result, or
// C that holds the line of ```c. EXO_UPDATE_GOLDEN=1 writes these blocks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/base/diagnostic.h"
#include "core/codegen/codegen.h"
#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/library/script.h"

namespace exotune {
namespace {

const char kPage[] = EXOTUNE_SOURCE_DIR "/docs/what-is-refused.md";

struct Case {
  std::string title;
  std::string exo, sched;
  std::string kind, outcome;  // refused, result or c
};

struct Page {
  std::vector<std::string> lines;
  std::vector<Case> cases;
  std::vector<std::pair<size_t, size_t>> outcomes;  // of each case: its lines in `lines`
};

Page read_page() {
  Page page;
  std::ifstream in(kPage);
  std::string line, fence, title;
  Case now;
  size_t begin = 0;
  while (std::getline(in, line)) {
    page.lines.push_back(line);
    if (line.rfind("### ", 0) == 0) title = line.substr(4);
    if (line.rfind("```", 0) != 0) {
      if (fence == "exo") now.exo += line + "\n";
      if (fence == "sched") now.sched += line + "\n";
      if (fence == "refused" || fence == "result" || fence == "c") now.outcome += line + "\n";
      continue;
    }
    if (fence.empty()) {
      fence = line.substr(3);
      if (fence == "exo") now = {};
      begin = page.lines.size();
      continue;
    }
    if (fence == "refused" || fence == "result" || fence == "c") {
      now.title = title;
      now.kind = fence;
      page.cases.push_back(now);
      page.outcomes.push_back({begin, page.lines.size() - 1});
    }
    fence.clear();
  }
  return page;
}

// Message and notes up to the proc that is shown.
std::string words(const Diagnostic& d) {
  std::string out = d.message.str() + "\n";
  for (const LazyText& note : d.notes) {
    const std::string text = note.str();
    if (text.find('\n') != std::string::npos) break;
    if (text.rfind("in ", 0) != 0) out += text + "\n";
  }
  return out;
}

// What the case comes to: kind and text.
std::pair<std::string, std::string> outcome(const Case& c) {
  try {
    const Module module = parse_module(c.exo, "case.exo");
    ProcPtr p = module.user_procs().back();
    if (!c.sched.empty()) p = run_script(c.sched, "case.sched", script_environment(module)).proc;
    CodegenOptions options;
    options.stem = "case";
    const std::string text = generate_c({p}, options).c;
    if (c.kind != "c") return {"result", str(*p)};
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      const bool found =
          c.outcome.size() > 1 ? line + "\n" == c.outcome : line.find("] = ") != std::string::npos;
      if (found) return {"c", line + "\n"};
      at = end + 1;
    }
    return {"c", text};
  } catch (const Error& e) {
    return {"refused", words(e.diagnostic())};
  }
}

TEST(WhatIsRefused, is_refused_in_these_words) {
  Page page = read_page();
  ASSERT_GT(page.cases.size(), 30u);
  const bool update = std::getenv("EXO_UPDATE_GOLDEN") != nullptr;
  for (size_t k = page.cases.size(); k-- > 0;) {
    const Case& c = page.cases[k];
    const auto [kind, text] = outcome(c);
    EXPECT_EQ(kind, c.kind) << c.title << "\n" << text;
    if (!update || kind != c.kind) {
      EXPECT_EQ(text, c.outcome) << c.title;
      continue;
    }
    const auto [begin, end] = page.outcomes[k];
    const auto first = page.lines.begin() + static_cast<std::ptrdiff_t>(begin);
    page.lines.erase(first, page.lines.begin() + static_cast<std::ptrdiff_t>(end));
    page.lines.insert(page.lines.begin() + static_cast<std::ptrdiff_t>(begin),
                      text.substr(0, text.size() - 1));
  }
  if (!update) return;
  std::ofstream out(kPage);
  for (const std::string& line : page.lines) out << line << "\n";
}

}  // namespace
}  // namespace exotune
