#include "db/record_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/diagnostic.h"
#include "core/base/json.h"

namespace exotune {
// One record a line, as JSON: what `db export` writes and `db import` reads back. Imports come from
// other machines and other versions, so every field is checked as if a stranger had typed it, with
// its line in the message.

namespace {

constexpr int kFormat = 1;

/// Reads one line's fields; every mistake becomes an InputError with the line.
class Line {
 public:
  Line(const std::string& text, const SourceLocation& where) : where_(where) {
    if (std::optional<Json> parsed = Json::parse(text)) json_ = *std::move(parsed);
    if (json_.fields() == nullptr) fail("this is not a JSON object");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(where_, what, "only files written by `exo-tune db export` can be imported");
  }
  std::string text(const char* key) const {
    const std::string* text = field(key).text();
    if (text == nullptr) fail(std::string("'") + key + "' is not a string");
    return *text;
  }
  // Part of what a record is found by: never empty.
  std::string key_text(const char* key) const {
    std::string s = text(key);
    if (s.empty()) fail(std::string("'") + key + "' is empty");
    return s;
  }
  int64_t integer(const char* key) const {
    const int64_t* integer = field(key).integer();
    if (integer == nullptr) fail(std::string("'") + key + "' is not an integer");
    return *integer;
  }
  bool flag(const char* key) const {
    const bool* flag = field(key).flag();
    if (flag == nullptr) fail(std::string("'") + key + "' is neither true nor false");
    return *flag;
  }
  double number(const char* key) const {
    const std::optional<double> number = field(key).number();
    // JSON has no infinities, but 1e999 reads as one.
    if (!number || !std::isfinite(*number)) fail(std::string("'") + key + "' is not a number");
    return *number;
  }
  std::vector<double> numbers(const char* key) const {
    const Json::List* list = field(key).list();
    if (list == nullptr) fail(std::string("'") + key + "' is not a list");
    std::vector<double> out;
    for (const Json& each : *list) {
      const std::optional<double> number = each.number();
      if (!number || !std::isfinite(*number))
        fail(std::string("'") + key + "' holds something that is not a number");
      out.push_back(*number);
    }
    return out;
  }

 private:
  const Json& field(const char* key) const {
    const Json* found = json_.find(key);
    if (found == nullptr) fail(std::string("'") + key + "' is missing");
    return *found;
  }
  SourceLocation where_;
  Json json_;
};

RankedTrial read_trial(const Line& line) {
  RankedTrial r;
  TrialRecord& t = r.trial;
  t.key = {line.key_text("kernel"), line.text("sizes"), line.key_text("target"),
           line.key_text("fingerprint"), line.text("compiler")};
  t.candidate_id = line.key_text("candidate");
  t.status = line.text("status");
  // A status of a newer version: better refused than counted as something else.
  if (!known_status(t.status)) line.fail("no trial status is called '" + t.status + "'");
  t.cause = line.text("cause");
  t.script = line.text("script");
  t.samples = line.numbers("samples");
  t.unit = line.text("unit");
  try {
    t.proof = proof_level_from_name(line.text("proof"));
  } catch (const InputError& e) {
    line.fail(e.diagnostic().message.str());
  }
  t.engine_version = line.text("engine");
  t.created = line.integer("created");
  r.winner = line.flag("winner");
  r.settled = line.flag("settled");
  if (r.winner && (t.status != "ok" || t.samples.empty()))
    line.fail("a winner must be ok and have samples");
  t = normalised(std::move(t));
  return r;
}

}  // namespace

std::string header_line() { return Json{{"type", "exo-tune"}, {"format", kFormat}}.str(); }

std::string machine_line(const MachineRecord& m) {
  return Json{{"type", "machine"},
              {"fingerprint", m.fingerprint},
              {"microarchitecture", m.microarchitecture},
              {"isa", m.isa},
              {"description", m.description}}
      .str();
}

std::string kernel_line(const std::string& hash, const std::string& name) {
  return Json{{"type", "kernel"}, {"hash", hash}, {"name", name}}.str();
}

std::string trial_line(const RankedTrial& r) {
  const TrialRecord& t = r.trial;
  return Json{{"type", "trial"},
              {"kernel", t.key.kernel_hash},
              {"sizes", t.key.sizes},
              {"target", t.key.target},
              {"fingerprint", t.key.fingerprint},
              {"compiler", t.key.compiler},
              {"candidate", t.candidate_id},
              {"status", t.status},
              {"cause", t.cause},
              {"samples", t.samples},
              {"unit", t.unit},
              {"proof", proof_level_name(t.proof)},
              {"engine", t.engine_version},
              {"created", t.created},
              {"winner", r.winner},
              {"settled", r.settled},
              {"script", t.script}}
      .str();
}

std::string figure_line(const NamedFigure& f) {
  return Json{{"type", "figure"},   {"target", f.key.target},
              {"text", f.key.text}, {"microarchitecture", f.key.microarchitecture},
              {"kind", f.key.kind}, {"name", f.name},
              {"value", f.value}}
      .str();
}

// The first line names the format; the records' order does not matter here, whoever takes them over
// sorts out what speaks of what.
Contents read_json_lines(std::istream& in, const std::string& name) {
  Contents out;
  SourceLocation where{std::make_shared<const std::string>(name), 0, 1};
  bool header = false;
  for (std::string text; std::getline(in, text);) {
    ++where.line;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty()) continue;
    const Line line(text, where);
    const std::string type = line.text("type");
    if (!header) {
      if (type != "exo-tune") line.fail("the first line does not say it is an exo-tune export");
      if (line.integer("format") != kFormat)
        line.fail("its format " + std::to_string(line.integer("format")) + " is not " +
                  std::to_string(kFormat));
      header = true;
    } else if (type == "machine") {
      out.machines.push_back({line.key_text("fingerprint"), line.text("microarchitecture"),
                              line.text("isa"), line.text("description")});
    } else if (type == "kernel") {
      out.kernels.emplace_back(line.key_text("hash"), line.text("name"));
    } else if (type == "trial") {
      out.trials.push_back(read_trial(line));
    } else if (type == "figure") {
      out.figures.push_back({{line.key_text("target"), line.key_text("text"),
                              line.text("microarchitecture"), line.key_text("kind")},
                             line.key_text("name"),
                             line.number("value")});
    } else {
      line.fail("no record is called '" + type + "'");
    }
  }
  if (in.bad()) throw InputError({}, "cannot read '" + name + "'");
  return out;
}

std::string samples_blob(const std::vector<double>& samples) {
  std::string out;
  for (double s : samples) {
    uint64_t bits = 0;
    memcpy(&bits, &s, sizeof bits);
    for (int k = 0; k < 8; ++k) out.push_back(static_cast<char>(bits >> (8 * k)));
  }
  return out;
}

std::optional<std::vector<double>> samples_of_blob(const void* data, size_t bytes) {
  if (bytes % 8 != 0) return std::nullopt;
  const auto* p = static_cast<const unsigned char*>(data);
  std::vector<double> out;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t bits = 0;
    for (int k = 7; k >= 0; --k) bits = bits << 8 | p[i + static_cast<size_t>(k)];
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) return std::nullopt;
    out.push_back(value);
  }
  return out;
}

double median_of_samples(std::vector<double> samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size();
  // Halves first: a sum of two of the largest doubles would overflow.
  return n % 2 ? samples[n / 2] : samples[n / 2 - 1] / 2 + samples[n / 2] / 2;
}

std::string valid_utf8(const std::string& text) {
  std::string out = text;
  for (size_t i = 0; i < out.size();) {
    const auto byte = [&](size_t k) {
      return k < out.size() ? static_cast<unsigned char>(out[k]) : 0u;
    };
    const unsigned lead = byte(i);
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xC2 && lead < 0xE0 ? 2
                    : lead >= 0xE0 && lead < 0xF0 ? 3
                    : lead >= 0xF0 && lead < 0xF5 ? 4
                                                  : 0;
    for (size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xC0) != 0x80) length = 0;
    const unsigned second = byte(i + 1);
    const bool bad = length == 0 || lead == 0 || (lead == 0xE0 && second < 0xA0) ||
                     (lead == 0xED && second >= 0xA0) || (lead == 0xF0 && second < 0x90) ||
                     (lead == 0xF4 && second >= 0x90);
    if (bad)
      out[i++] = '?';
    else
      i += length;
  }
  return out;
}

TrialRecord normalised(TrialRecord t) {
  for (std::string* s :
       {&t.key.kernel_hash, &t.key.sizes, &t.key.target, &t.key.fingerprint, &t.key.compiler,
        &t.candidate_id, &t.status, &t.cause, &t.script, &t.unit, &t.engine_version})
    *s = valid_utf8(*s);
  std::erase_if(t.samples, [](double s) { return !std::isfinite(s); });
  t.median = median_of_samples(t.samples);
  return t;
}

bool known_status(const std::string& status) {
  static constexpr const char* kNames[] = {"ok",       "compile_error", "crash",
                                           "timeout",  "out_of_bounds", "mismatch",
                                           "poisoned", "skipped"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* name) { return status == name; });
}

}  // namespace exotune
