#include "db/schema.h"

namespace exotune {

const std::vector<std::string>& schema_steps() {
  static const std::vector<std::string> steps = {
      // 1: machines, kernels and trials.
      R"sql(
CREATE TABLE machines(
  fingerprint TEXT PRIMARY KEY NOT NULL,
  microarchitecture TEXT NOT NULL DEFAULT '',
  isa TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '');
CREATE TABLE kernels(
  hash TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL DEFAULT '');
CREATE TABLE contexts(
  id INTEGER PRIMARY KEY,
  kernel TEXT NOT NULL REFERENCES kernels(hash),
  sizes TEXT NOT NULL,
  target TEXT NOT NULL,
  fingerprint TEXT NOT NULL REFERENCES machines(fingerprint),
  compiler TEXT NOT NULL,
  UNIQUE(kernel, sizes, target, fingerprint, compiler));
CREATE TABLE trials(
  id INTEGER PRIMARY KEY,
  context INTEGER NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
  candidate TEXT NOT NULL,
  status TEXT NOT NULL,
  cause TEXT NOT NULL,
  script TEXT NOT NULL,
  samples BLOB NOT NULL,
  median REAL NOT NULL,
  unit TEXT NOT NULL,
  proof INTEGER NOT NULL CHECK(proof BETWEEN 0 AND 2),
  engine TEXT NOT NULL,
  created INTEGER NOT NULL,
  UNIQUE(context, candidate));
)sql",
      // 2: the best of each context, the orders it is asked in, and a view for people.
      R"sql(
CREATE TABLE winners(
  context INTEGER PRIMARY KEY REFERENCES contexts(id) ON DELETE CASCADE,
  trial INTEGER NOT NULL REFERENCES trials(id) ON DELETE CASCADE,
  settled INTEGER NOT NULL DEFAULT 0 CHECK(settled IN (0, 1)));
INSERT INTO winners(context, trial)
  SELECT context, id FROM (
    SELECT context, id, row_number() OVER (
      PARTITION BY context ORDER BY median, candidate) AS place
    FROM trials WHERE status = 'ok' AND median > 0)
  WHERE place = 1;
CREATE INDEX trials_by_status ON trials(status, created);
CREATE INDEX winners_by_trial ON winners(trial);
CREATE VIEW results AS
  SELECT k.name AS kernel, c.sizes AS sizes, c.target AS target, t.candidate AS candidate,
         t.status AS status, t.median AS median, t.unit AS unit,
         CASE t.proof WHEN 0 THEN 'proved' WHEN 1 THEN 'proved modulo reassociation'
                      ELSE 'tested' END AS proof,
         w.trial IS NOT NULL AS winner, m.microarchitecture AS microarchitecture,
         c.compiler AS compiler, t.cause AS cause, datetime(t.created, 'unixepoch') AS created,
         t.script AS script
  FROM trials t JOIN contexts c ON c.id = t.context JOIN kernels k ON k.hash = c.kernel
       JOIN machines m ON m.fingerprint = c.fingerprint LEFT JOIN winners w ON w.trial = t.id;
)sql",
      // 3: what was found out about targets: weights of the cost model, costs of instructions.
      R"sql(
CREATE TABLE figures(
  target TEXT NOT NULL,
  text TEXT NOT NULL,
  microarchitecture TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY(target, text, microarchitecture, kind, name)) WITHOUT ROWID;
)sql"};
  return steps;
}

}  // namespace exotune
