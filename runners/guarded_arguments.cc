#include "runners/guarded_arguments.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>

#include "core/base/diagnostic.h"

namespace exotune {
// Arguments between pages that fault: a candidate that reads or writes outside of them is caught at
// the access, with the argument and the side named. Values around strided data, and every output
// before the run, are patterns that a result would not have by chance.

namespace {

// On each side of an argument: a stray access by a row or two of a matrix still faults.
constexpr size_t kGuardBytes = 64 << 10;
// Of Linux on x86-64, and on arm64 and riscv64 with pages of 4 KB.
constexpr size_t kHugePage = 2 << 20;

uint8_t guard_byte(size_t position) { return static_cast<uint8_t>(0xA5 ^ (position * 29)); }

void fill_guard(uint8_t* at, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) at[i] = guard_byte(i);
}
bool guard_intact(const uint8_t* at, size_t bytes, size_t* where) {
  for (size_t i = 0; i < bytes; ++i)
    if (at[i] != guard_byte(i)) {
      *where = i;
      return false;
    }
  return true;
}

size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

// Poison in two variants: a candidate that copies what was there before would pass with one of
// them.
void store_poison(ElementType type, uint8_t* at, int variant) {
  if (is_floating(type)) return store_element(type, at, std::nan(""));
  memset(at, variant == 0 ? 0x55 : 0xAA, element_bytes(type));
}

std::string number(double v) {
  char text[40];
  snprintf(text, sizeof text, "%.9g", v);
  return text;
}

// The tolerance is relative above 1, and slack adds what cancellation may cost there, as the
// reference worked it out.
bool close_enough(double got, double want, double tolerance, double slack) {
  if (got == want || (std::isnan(got) && std::isnan(want)) || std::isinf(slack)) return true;
  return std::fabs(got - want) <= tolerance * std::max(1.0, std::fabs(want)) + slack;
}

// visit(i, offset in elements) for each; in dense arguments the offset is the number.
template <class Visit>
void for_each_element(const ArgSpec& arg, const Visit& visit) {
  if (arg.kind != ArgSpec::Kind::kWindow) {
    const auto count = static_cast<size_t>(arg.elements());
    for (size_t i = 0; i < count; ++i) visit(i, i);
    return;
  }
  const std::vector<int64_t> offsets = arg.element_offsets();
  for (size_t i = 0; i < offsets.size(); ++i) visit(i, static_cast<size_t>(offsets[i]));
}

// All at once: page by page each is a fault. A system that cannot gives them when they are written.
void give_pages(void* body, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  madvise(body, bytes, MADV_POPULATE_WRITE);
#else
  (void)body;
  (void)bytes;
#endif
}

// The bytes of an argument as it is before a run: values where the test gives them, poison
// elsewhere.
std::vector<uint8_t> image_of(const ArgSpec& arg, const std::vector<double>* values, int variant) {
  const size_t width = element_bytes(arg.type);
  std::vector<uint8_t> image(static_cast<size_t>(arg.span_elements()) * width);
  if (arg.kind == ArgSpec::Kind::kWindow) fill_guard(image.data(), image.size());
  if (values && arg.kind != ArgSpec::Kind::kWindow) {
    store_elements(arg.type, image.data(), values->data(), values->size());
    return image;
  }
  for_each_element(arg, [&](size_t i, size_t offset) {
    uint8_t* at = image.data() + offset * width;
    if (values)
      store_element(arg.type, at, (*values)[i]);
    else
      store_poison(arg.type, at, variant);
  });
  return image;
}

void require_count(const ArgSpec& arg, const char* what, size_t have) {
  if (have == static_cast<size_t>(arg.elements())) return;
  throw InputError({}, "the test case has " + std::to_string(have) + " " + what + " for '" +
                           arg.name + "', which has " + std::to_string(arg.elements()) +
                           " elements");
}

}  // namespace

PreparedCase prepare_inputs(const std::vector<ArgSpec>& args,
                            const std::vector<std::vector<double>>& inputs) {
  PreparedCase out;
  out.specs = args;
  out.args.resize(args.size());
  for (size_t a = 0; a < args.size(); ++a) {
    const ArgSpec& arg = args[a];
    if (!arg.is_data()) continue;
    const bool given = a < inputs.size() && !inputs[a].empty();
    if (given || arg.is_read) require_count(arg, "inputs", given ? inputs[a].size() : 0);
    const std::vector<double>* values = given ? &inputs[a] : nullptr;
    out.args[a].images[0] = image_of(arg, values, 0);
    if (!values) out.args[a].images[1] = image_of(arg, values, 1);
  }
  return out;
}

// Converted once for all candidates of a problem: inputs to bytes, expected values to doubles.
PreparedCase prepare(const std::vector<ArgSpec>& args, const TestCase& test) {
  PreparedCase out = prepare_inputs(args, test.inputs);
  out.tolerance = test.tolerance;
  for (size_t a = 0; a < args.size(); ++a) {
    const ArgSpec& arg = args[a];
    if (!arg.is_data() || !arg.is_written) continue;
    if (a >= test.expected.size() || test.expected[a].empty()) continue;
    require_count(arg, "expected values", test.expected[a].size());
    out.args[a].expected = image_of(arg, &test.expected[a], 0);
    out.args[a].expected_values = test.expected[a];
    if (a >= test.slack.size() || test.slack[a].empty()) continue;
    require_count(arg, "slacks", test.slack[a].size());
    out.args[a].slack = test.slack[a];
  }
  return out;
}

// One mapping holds all arguments; `placement` says whether they end at a page's end (to catch
// overruns exactly) or start where timing wants them.
GuardedArguments::GuardedArguments(const PreparedCase& prepared, Placement placement, int variation,
                                   size_t further)
    : prepared_(prepared) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t n = prepared.specs.size();
  slots_.resize(n);
  values_.resize(n);
  pointers_.resize(n);
  for (size_t a = 0; a < n; ++a) {
    const ArgSpec& arg = prepared.specs[a];
    Slot& slot = slots_[a];
    if (arg.kind == ArgSpec::Kind::kControl || arg.kind == ArgSpec::Kind::kBool) {
      values_[a] = {
          static_cast<uint64_t>(arg.kind == ArgSpec::Kind::kBool ? arg.value != 0 : arg.value)};
      pointers_[a] = values_[a].data();
      continue;
    }
    slot.data_bytes = arg.is_data() ? prepared.args[a].image(0).size()
                                    : static_cast<size_t>(std::max<int64_t>(arg.value, 1));
    const auto v = static_cast<size_t>(variation);
    size_t skew = placement == Placement::kTiming ? (skew_of(a, v, page) + further) % page : 0;
    if (arg.in_lines) skew -= skew % kLine;
    // Other callers have large pages where the system gives them unasked.
    const bool huge =
        placement == Placement::kTiming && v % 3 == 2 && slot.data_bytes >= 2 * kHugePage;
    map_slot(slot, skew, huge, page);
    // What is only checked may lie as it costs least.
    if (huge || placement != Placement::kTiming) madvise(slot.body, slot.body_bytes, MADV_HUGEPAGE);
    give_pages(slot.body, slot.body_bytes);
    slot.data = placement == Placement::kFlushEnd ? slot.body + slot.body_bytes - slot.data_bytes
                                                  : slot.body + skew;
    pointers_[a] = slot.data;
    if (arg.kind == ArgSpec::Kind::kWindow) {
      values_[a].push_back(reinterpret_cast<uint64_t>(slot.data));
      for (int64_t s : arg.element_strides()) values_[a].push_back(static_cast<uint64_t>(s));
      pointers_[a] = values_[a].data();
    }
  }
}

// Spread, no two arguments compete for one set of the nearest cache; but callers whose allocator
// begins each at the same place of a page are as many, and what is fast for the ones may be slow
// for the others.
size_t GuardedArguments::skew_of(size_t a, size_t variation, size_t page) {
  constexpr size_t kHeader = 16;  // of a block of malloc's
  if (variation % 3 == 1) return kHeader;
  if (variation % 3 == 2) return variation / 3 * 320 % page;
  const size_t off_the_lines = variation % 2 == 1 ? kHeader * (1 + a % 3) : 0;
  return (a * (192 + variation * 704) + variation * 320) % page + off_the_lines;
}

// Address space with the body in its middle; what lies around it faults on any access.
void GuardedArguments::map_slot(Slot& slot, size_t skew, bool huge, size_t page) {
  const size_t unit = huge ? kHugePage : page, lead = huge ? kHugePage : kGuardBytes;
  slot.body_bytes = round_up(slot.data_bytes + skew + 1, unit);
  slot.map_bytes = slot.body_bytes + 2 * lead;
  void* map =
      mmap(nullptr, slot.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  slot.map = static_cast<uint8_t*>(map);
  slot.body = huge ? reinterpret_cast<uint8_t*>(
                         round_up(reinterpret_cast<uintptr_t>(slot.map) + 1, kHugePage))
                   : slot.map + lead;
  if (mprotect(slot.body, slot.body_bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
}

GuardedArguments::~GuardedArguments() {
  for (const Slot& slot : slots_)
    if (slot.map) munmap(slot.map, slot.map_bytes);
}

void GuardedArguments::fill(int variant) {
  for (size_t a = 0; a < slots_.size(); ++a) {
    const Slot& slot = slots_[a];
    if (!slot.map) continue;
    fill_guard(slot.body, static_cast<size_t>(slot.data - slot.body));
    const std::vector<uint8_t>& image = prepared_.args[a].image(variant);
    if (prepared_.specs[a].is_data())
      std::copy(image.begin(), image.end(), slot.data);
    else
      memset(slot.data, 0, slot.data_bytes);
    uint8_t* end = slot.data + slot.data_bytes;
    fill_guard(end, static_cast<size_t>(slot.body + slot.body_bytes - end));
  }
}

std::string GuardedArguments::element_name_at(size_t a, int64_t element) const {
  const ArgSpec& arg = prepared_.specs[a];
  std::string index;
  for (size_t k = arg.shape.size(); k-- > 0;) {
    index = std::to_string(element % arg.shape[k]) + (index.empty() ? "" : ", ") + index;
    element /= arg.shape[k];
  }
  return "'" + arg.name + "'" + (arg.shape.empty() ? "" : "[" + index + "]");
}

// Compares every element that the test expects; the first that differs is named with what was
// wanted.
Finding GuardedArguments::check_output(size_t a, int variant) const {
  const ArgSpec& arg = prepared_.specs[a];
  const PreparedCase::Arg& want = prepared_.args[a];
  const Slot& slot = slots_[a];
  if (want.expected.empty() || memcmp(slot.data, want.expected.data(), slot.data_bytes) == 0)
    return {};
  const size_t width = element_bytes(arg.type);
  int64_t wrong = 0, first = 0;
  double first_value = 0;
  bool poisoned = false;
  for_each_element(arg, [&](size_t i, size_t offset) {
    const size_t at = offset * width;
    const double got = load_element(arg.type, slot.data + at);
    if (close_enough(got, want.expected_values[i], prepared_.tolerance,
                     want.slack.empty() ? 0 : want.slack[i]))
      return;
    const bool untouched =
        !arg.is_read && memcmp(slot.data + at, want.image(variant).data() + at, width) == 0;
    // What nobody is to write: an integer has no poison that compares, but keeps what it was.
    if (untouched && !is_floating(arg.type) && std::isnan(want.expected_values[i])) return;
    const bool poison = is_floating(arg.type) ? std::isnan(got) : untouched;
    if (wrong++ == 0 || (poison && !poisoned)) {
      first = static_cast<int64_t>(i);
      first_value = got;
    }
    poisoned |= poison;
  });
  if (wrong == 0) return {};
  const std::string where = element_name_at(a, first);
  const std::string want_text = number(want.expected_values[static_cast<size_t>(first)]);
  const std::string share =
      " (" + std::to_string(wrong) + " of " + std::to_string(arg.elements()) + " elements differ)";
  if (poisoned)
    return {TrialStatus::kPoisoned, where +
                                        " was never written, or computed from uninitialised memory"
                                        ": " +
                                        number(first_value) + ", expected " + want_text + share};
  return {TrialStatus::kMismatch,
          where + " is " + number(first_value) + ", expected " + want_text + share};
}

// Where something changed: an element may, if the argument is written; what lies between never.
Finding GuardedArguments::check_kept(size_t a, int variant) const {
  const Slot& slot = slots_[a];
  const ArgSpec& arg = prepared_.specs[a];
  const std::vector<uint8_t>& image = prepared_.args[a].image(variant);
  if (memcmp(slot.data, image.data(), slot.data_bytes) == 0) return {};
  // A dense output: every element may have changed, and there is nothing between them.
  if (arg.is_written && arg.kind != ArgSpec::Kind::kWindow) return {};
  const size_t width = element_bytes(arg.type);
  std::vector<char> is_element(slot.data_bytes / width, false);
  const std::vector<int64_t> offsets = arg.element_offsets();
  for (size_t i = 0; i < offsets.size(); ++i) {
    is_element[static_cast<size_t>(offsets[i])] = true;
    const size_t at = static_cast<size_t>(offsets[i]) * width;
    if (!arg.is_written && memcmp(slot.data + at, image.data() + at, width) != 0)
      return {TrialStatus::kMismatch,
              "modified the input " + element_name_at(a, static_cast<int64_t>(i))};
  }
  for (size_t e = 0; e < is_element.size(); ++e)
    if (!is_element[e] && memcmp(slot.data + e * width, image.data() + e * width, width) != 0)
      return {TrialStatus::kOutOfBounds, "wrote between the elements of the window '" + arg.name +
                                             "', " + std::to_string(e) +
                                             " elements from its start"};
  return {};
}

// Outputs first: a wrong value says more than a guard that was touched.
Finding GuardedArguments::check(int variant) const {
  for (size_t a = 0; a < slots_.size(); ++a) {
    const Slot& slot = slots_[a];
    const ArgSpec& arg = prepared_.specs[a];
    if (!slot.map) continue;
    const std::string name = "'" + arg.name + "'";
    const size_t before = static_cast<size_t>(slot.data - slot.body);
    const uint8_t* end = slot.data + slot.data_bytes;
    size_t where = 0;
    if (!guard_intact(slot.body, before, &where))
      return {TrialStatus::kOutOfBounds,
              "wrote " + std::to_string(before - where) + " bytes before the start of " + name};
    if (!guard_intact(end, static_cast<size_t>(slot.body + slot.body_bytes - end), &where))
      return {TrialStatus::kOutOfBounds,
              "wrote " + std::to_string(where) + " bytes past the end of " + name};
    if (!arg.is_data()) continue;
    if (Finding f = check_kept(a, variant); !f.ok()) return f;
  }
  Finding worst;
  for (size_t a = 0; a < slots_.size(); ++a) {
    if (!prepared_.specs[a].is_data() || !prepared_.specs[a].is_written) continue;
    Finding f = check_output(a, variant);
    if (f.status == TrialStatus::kPoisoned || (!f.ok() && worst.ok())) worst = std::move(f);
  }
  return worst;
}

std::vector<std::vector<uint8_t>> GuardedArguments::outputs() const {
  std::vector<std::vector<uint8_t>> out(slots_.size());
  for (size_t a = 0; a < slots_.size(); ++a)
    if (prepared_.specs[a].is_data() && prepared_.specs[a].is_written)
      out[a].assign(slots_[a].data, slots_[a].data + slots_[a].data_bytes);
  return out;
}

void GuardedArguments::copy_outputs(uint8_t* to) const {
  for (size_t a = 0; a < slots_.size(); ++a)
    if (prepared_.specs[a].is_data() && prepared_.specs[a].is_written)
      to = std::copy(slots_[a].data, slots_[a].data + slots_[a].data_bytes, to);
}

// A signal handler calls this: it allocates nothing.
int GuardedArguments::guard_side(const void* address, size_t* arg) const {
  const auto* p = static_cast<const uint8_t*>(address);
  for (size_t a = 0; a < slots_.size(); ++a) {
    const Slot& s = slots_[a];
    if (!s.map || p < s.map || p >= s.map + s.map_bytes) continue;
    *arg = a;
    return p < s.body ? -1 : 1;
  }
  return 0;
}

std::vector<GuardedArguments::Range> GuardedArguments::ranges() const {
  std::vector<Range> out;
  for (const Slot& s : slots_)
    if (s.map) out.push_back({s.data, s.data_bytes});
  return out;
}

}  // namespace exotune
