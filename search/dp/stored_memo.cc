#include "search/dp/stored_memo.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "db/sqlite_file.h"
#include "search/dp/memo_names.h"

namespace exotune {
// A file is one memo: one machine, one set of rules, one number of plans (memo_identity). Several
// processes may share it; kinds and layouts have numbers in it, and each process takes over the
// numbers that it finds before it makes its own. What cannot be reconciled is not stored: a memo is
// a cache, and losing work is always right where mixing it up is not.

namespace {

constexpr const char* kModel = "affine 8";  // changes with the meaning of stored costs

// Numbers, seven bits at a time: most are small.
class ByteWriter {
 public:
  void number(uint64_t v) {
    for (; v >= 128; v >>= 7) bytes_ += static_cast<char>((v & 127) | 128);
    bytes_ += static_cast<char>(v);
  }
  void limits(const Limits& l) {
    for (const uint8_t c : l.codes) number(c);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  ByteReader(const void* data, size_t size)
      : at_(static_cast<const uint8_t*>(data)), end_(at_ + size) {}
  bool done() const { return at_ == end_; }
  uint64_t number() {
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
      if (at_ == end_ || shift > 63) throw InputError({}, "a number has no end");
      v |= static_cast<uint64_t>(*at_ & 127) << shift;
      if ((*at_++ & 128) == 0) return v;
    }
  }
  Limits limits() {
    Limits l;
    for (uint8_t& c : l.codes) c = static_cast<uint8_t>(number());
    return l;
  }

 private:
  const uint8_t *at_, *end_;
};

void write_box(const BoxMemo::Box& box, const MemoValue& value, ByteWriter& out) {
  out.limits(box.low);
  out.limits(box.high);
  out.number(static_cast<uint64_t>(value.complete_to));
  out.number(value.best.size());
  for (const Alternative& a : value.best) {
    out.number(static_cast<uint64_t>(a.cost.units));
    out.limits(a.cost.peak);
    out.number(a.cost.depth);
    out.number(static_cast<uint64_t>(a.action.kind));
    out.number(a.action.index);
    out.number(a.action.to.level);
    out.number(a.action.to.vector);
    out.number(a.action.to.layout);
    out.number(a.action.size);
    out.number(a.rank);
    out.number(a.identity.run);
    out.number(a.identity.rest);
  }
}

// Reads back exactly what write_box wrote; a reader that runs out of bytes means a damaged file.
MemoValue read_value(ByteReader& in) {
  MemoValue value;
  value.complete_to = static_cast<int64_t>(in.number());
  for (uint64_t n = in.number(); n > 0; --n) {
    Alternative a;
    a.cost.units = static_cast<int64_t>(in.number());
    a.cost.peak = in.limits();
    a.cost.depth = static_cast<uint8_t>(in.number());
    a.action.kind = static_cast<ActionKind>(in.number());
    a.action.index = static_cast<uint16_t>(in.number());
    a.action.to.level = static_cast<uint8_t>(in.number());
    a.action.to.vector = static_cast<uint8_t>(in.number());
    a.action.to.layout = static_cast<uint16_t>(in.number());
    a.action.size = static_cast<uint32_t>(in.number());
    a.rank = static_cast<uint8_t>(in.number());
    a.identity.run = in.number();
    a.identity.rest = in.number();
    value.best.push_back(a);
  }
  return value;
}

}  // namespace

// Everything that decides what a stored cost means, hashed into one line: the machine with its
// levels and kernels, the rules, k, and kModel for the formulas themselves.
std::string memo_identity(const DpMachine& machine, const DpRules& rules, int k) {
  return content_hash(std::string(kModel) + "\n" + machine.hash + "\n" + rules.str() + "\nk" +
                      std::to_string(k) + "\nspec" + std::to_string(sizeof(Spec)) + "\nthreads" +
                      std::to_string(machine.threads));
}

struct StoredMemo::File {
  explicit File(const std::string& path)
      : db(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds) {}

  std::optional<std::string> identity() {
    SQLite::Statement known(db, "SELECT hash FROM identity");
    return known.executeStep() ? std::optional(known.getColumn(0).getString()) : std::nullopt;
  }
  /// Whatever the file holds, it is one of `identity` afterwards; emptied when it was another.
  void become(const std::string& identity) {
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::EXCLUSIVE);
    db.exec("CREATE TABLE IF NOT EXISTS identity (hash TEXT NOT NULL)");
    db.exec(
        "CREATE TABLE IF NOT EXISTS names (what TEXT NOT NULL, number INTEGER NOT NULL, text TEXT "
        "NOT NULL, "
        "PRIMARY KEY (what, number)) WITHOUT ROWID");
    db.exec(
        "CREATE TABLE IF NOT EXISTS specs (spec BLOB PRIMARY KEY, boxes BLOB NOT NULL) WITHOUT "
        "ROWID");
    if (this->identity() != identity) {
      db.exec("DELETE FROM specs; DELETE FROM names; DELETE FROM identity");
      SQLite::Statement insert(db, "INSERT INTO identity VALUES (?)");
      insert.bind(1, identity);
      insert.exec();
    }
    transaction.commit();
  }
  /// What is read from now on is the file as it is now: Specs of other processes, which count on
  /// numbers given since, stay out of sight.
  void hold_still() { db.exec("BEGIN"); }
  /// Another number when another process wrote meanwhile.
  int64_t version() { return db.execAndGet("PRAGMA data_version").getInt64(); }
  void let_go() { db.tryExec("COMMIT"); }

  SQLite::Database db;
};

StoredMemo::StoredMemo(const std::string& path, const std::string& identity, SpecKinds& kinds,
                       LayoutPool& layouts)
    : path_(path), identity_(identity), kinds_(kinds), layouts_(layouts) {
  guard([&] {
    file_ = std::make_unique<File>(path);
    retry_while_busy([&] { file_->become(identity); });
    use_write_ahead_log(file_->db);
    look();
  });
}

// SQLite's exceptions and what the readers above refuse, with the one piece of advice there is for
// a cache.
void StoredMemo::guard(const std::function<void()>& body) const {
  const char* const cache = "it is a cache: remove the file when no exo-tune is running";
  try {
    body();
  } catch (const SQLite::Exception& e) {
    const int code = e.getErrorCode();
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
      throw InputError({}, "another exo-tune has been writing to '" + path_ + "' for long",
                       "wait for it, or name another database with --db FILE");
    throw InputError({}, "cannot use the memo '" + path_ + "': " + e.what(), cache);
  } catch (const InputError& e) {
    throw InputError({}, "the memo '" + path_ + "' is damaged: " + e.diagnostic().message.str(),
                     cache);
  }
}

void StoredMemo::look() {
  file_->hold_still();
  // Another process may have made the file its own since.
  attached_ = file_->identity() == identity_ && adopt_names();
  // What this process wrote itself need not be read.
  const int64_t version = file_->version();
  const bool nothing_new = empty_ && version == version_;
  version_ = version;
  SQLite::Statement specs(file_->db, "SELECT EXISTS (SELECT 1 FROM specs)");
  const bool has_specs = specs.executeStep() && specs.getColumn(0).getInt() != 0;
  empty_ = !attached_ || nothing_new || !has_specs;
}

bool StoredMemo::adopt_names() {
  SQLite::Statement names(file_->db, "SELECT what, number, text FROM names ORDER BY what, number");
  while (names.executeStep()) {
    const std::string text = names.getColumn(2).getString();
    const int number = names.getColumn(1).getInt();
    const bool kind = names.getColumn(0).getString() == "kind";
    const int known = kind ? kinds_.size() : static_cast<int>(layouts_.size());
    if (number > known) return false;
    // A number that is free here is taken; one that is not must mean the same.
    const int got = kind ? kinds_.id(kind_named(text)) : layouts_.id(layout_named(text));
    if (got != number) return false;
  }
  return true;
}

StoredMemo::~StoredMemo() = default;

// Boxes of one Spec come in when it is first asked for, not the whole file: a search looks at a
// small part of what earlier ones solved.
void StoredMemo::fetch(const Spec& spec) {
  if (!fetched_.insert(spec).second) return;
  guard([&] {
    SQLite::Statement query(file_->db, "SELECT boxes FROM specs WHERE spec = ?");
    query.bind(1, &spec, sizeof spec);
    if (!query.executeStep()) return;
    ++loaded_;
    const SQLite::Column boxes = query.getColumn(0);
    ByteReader in(boxes.getBlob(), static_cast<size_t>(boxes.getBytes()));
    while (!in.done()) {
      const Limits low = in.limits(), high = in.limits();
      memo_.restore(spec, low, high, read_value(in));
    }
  });
}

const MemoValue* StoredMemo::find(const Spec& spec, const Limits& limits, int64_t bound, int k,
                                  Limits* solved_at) {
  if (const MemoValue* known = memo_.find(spec, limits, bound, k, solved_at)) return known;
  if (empty_) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (fetched_.contains(spec)) {
      // Another thread may have brought it just now.
      return memo_.find(spec, limits, bound, k, solved_at);
    }
    fetch(spec);
  }
  return memo_.find(spec, limits, bound, k, solved_at);
}

const MemoValue* StoredMemo::put(const Spec& spec, const Limits& limits, MemoValue value) {
  {
    const std::lock_guard lock(mutex_);
    if (!empty_) fetch(spec);
    changed_.insert(spec);
  }
  return memo_.put(spec, limits, std::move(value));
}

// In one transaction, so that a process that is killed leaves the file as it was.
void StoredMemo::save() {
  if (!attached_) return;
  guard([&] {
    file_->let_go();
    {
      SQLite::Transaction transaction(file_->db, SQLite::TransactionBehavior::IMMEDIATE);
      // Of two processes that gave one number to different things the second keeps its work to
      // itself: it is solved again when it is needed again.
      attached_ = file_->identity() == identity_ && adopt_names();
      if (attached_) write_all();
      transaction.commit();
    }
    fetched_.insert(changed_.begin(), changed_.end());
    changed_.clear();
    look();
  });
}

void StoredMemo::write_all() {
  SQLite::Statement name(file_->db, "INSERT OR REPLACE INTO names VALUES (?, ?, ?)");
  const auto keep = [&](const char* what, int number, const std::string& text) {
    name.reset();
    name.bind(1, what);
    name.bind(2, number);
    name.bind(3, text);
    name.exec();
  };
  for (int i = 0; i < kinds_.size(); ++i) keep("kind", i, name_of(kinds_.at(i)));
  for (size_t i = LayoutPool::kAny + 1; i < layouts_.size(); ++i)
    keep("layout", static_cast<int>(i), name_of(layouts_.at(static_cast<uint16_t>(i))));
  SQLite::Statement insert(file_->db, "INSERT OR REPLACE INTO specs VALUES (?, ?)");
  for (const Spec& spec : changed_) {
    ByteWriter out;
    for (const BoxMemo::Box& box : *memo_.boxes(spec)) write_box(box, *box.value, out);
    insert.reset();
    insert.bind(1, &spec, sizeof spec);
    insert.bind(2, out.bytes().data(), static_cast<int>(out.bytes().size()));
    insert.exec();
  }
}

}  // namespace exotune
