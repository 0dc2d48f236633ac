#!/usr/bin/env python3
"""Searches the accelerators' workloads from empty databases and counts what is found.

    table.py EXO_TUNE [ROW ...] [--ranks] [--library] [--list] [--budget 180s] [-o FOLDER]

A row is a name of `--list`; none: all. One line a workload: cycles of the best schedule, share of
the ideal (one product of tiles after another), ratio over the nest as written, candidates, time of
the search. `--ranks` counts the ten best schedules of each row again where memory answers after 20
and after 80 cycles instead of 40; `--library` the model of a library written by hand (docs/examples)
at the row's sizes. Cycles are the embedded simulator's and repeat; times are this machine's.
"""
import argparse, glob, json, os, re, resource, shutil, subprocess, sys, time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLES = os.path.join(ROOT, "docs", "examples")


def product(m, n, k):
    return ("gemmini", "i8gemm_scaled", f"M={m},N={n},K={k},act=1", (n, k))


def layer(size, channels):
    return ("gemmini", "i8conv3x3_scaled", f"B=4,H={size},W={size},IC={channels},OC={channels},act=1",
            (size, channels))


# name: target, kernel, sizes, what the model of the library has to know of them
ROWS = {
    "512x512x512": product(512, 512, 512),
    "12544x256x64": product(12544, 256, 64),
    "12544x64x256": product(12544, 64, 256),
    "3136x512x128": product(3136, 512, 128),
    "3136x128x512": product(3136, 128, 512),
    "784x1024x256": product(784, 1024, 256),
    "500x333x77": product(500, 333, 77)[:3] + (None,),
    "conv56": layer(56, 64),
    "conv28": layer(28, 128),
    "conv14": layer(14, 256),
    "conv56_pool": ("gemmini", os.path.join(EXAMPLES, "conv_pool.exo"),
                    "B=4,H=28,W=28,IC=64,OC=64,act=1", None),
    "pool28": ("gemmini", os.path.join(EXAMPLES, "pool.exo"), "B=4,H=28,W=28,C=128", None),
    "network": ("gemmini", os.path.join(EXAMPLES, "network.exo"), "B=64,N0=128,N1=64,N2=32,act=1",
                None),
    "conv1d": ("rvm", "conv1d", "OC=16,IC=4,N=16,W=4", None),
    "conv1d_slow": ("rvm:mmasa_interval=12", "conv1d", "OC=16,IC=4,N=16,W=4", None),
    "rvm_i8gemm": ("rvm", "i8gemm", "M=512,N=512,K=512", None),
    "rvm_i8gemm_relu": ("rvm", "i8gemm_relu", "M=64,N=256,K=512", None),
    "rvm_i8gemm_scaled": ("rvm", "i8gemm_scaled", "M=64,N=256,K=512,act=1", None),
}


def target_with(base, figure, value, out):
    """A copy of a target's text with one figure changed."""
    folder = os.path.join(out, "targets", f"{figure}{value}", base)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "hw", base), folder)
    path = os.path.join(folder, "target.toml")
    text, n = re.subn(rf"(?m)^{figure} = \d+", f"{figure} = {value}", open(path).read())
    assert n == 1, figure
    open(path, "w").write(text)
    return folder


def target_of(word, out):
    base, _, change = word.partition(":")
    return target_with(base, *change.split("="), out) if change else base


def cycles_of(a, kernel, script, target, sizes):
    done = subprocess.run([a.tool, "bench", kernel, script, "--target", target, "--size", sizes,
                           "--format", "json"], stdout=subprocess.PIPE, text=True)
    row = json.loads(done.stdout)[0] if done.returncode == 0 else {}
    found = re.search(r'"(?:median|count|cycles)": ?"?([\d.]+)', json.dumps(row))
    return float(found.group(1)) if found else None


def search(a, name):
    word, kernel, sizes, _ = ROWS[name]
    out, db = os.path.join(a.out, name), os.path.join(a.out, name + ".db")
    for old in glob.glob(db + "*"):
        os.remove(old)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run([a.tool, "kernel", kernel, "--target", target_of(word, a.out), "--size", sizes,
                           "--time-budget", a.budget, "--db", db, "-o", out, "--no-progress", "-v"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wall, after = time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    open(out + ".log", "w").write(done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        print(f"{name:18s} failed: see {out}.log", flush=True)
        return
    record = json.load(open(glob.glob(os.path.join(out, "*.json"))[0]))["cycles"]
    tried = int((re.search(r"(\d+) candidates measured", done.stdout) or [0, 0])[1])
    stopped = (re.search(r"stopped: (\w[\w ]*)", done.stdout) or ["", "?"])[1]
    print(f"{name:18s} {record['count']:>12.0f} cycles  {100 * record.get('share_of_peak', 0):5.1f} %  "
          f"{record.get('as_written', 0) / record['count']:8.1f} x as written  {tried:4d} candidates  "
          f"{wall:6.1f} s wall {cpu:6.1f} s CPU  {tried / wall:4.1f}/s wall {tried / cpu:4.1f}/s CPU  "
          f"{stopped}", flush=True)


def ranks(a, name):
    word, kernel, sizes, _ = ROWS[name]
    if not word.startswith("gemmini"):
        return
    db = os.path.join(a.out, name + ".db")
    done = subprocess.run([a.tool, "db", "query", "select median, script from results where status = 'ok' "
                           "order by median limit 10", "--db", db, "--format", "json"],
                          stdout=subprocess.PIPE, text=True)
    table = []
    for k, row in enumerate(json.loads(done.stdout)):
        script = os.path.join(a.out, f"{name}_{k}.sched")
        open(script, "w").write(row["script"])
        counts = [float(row["median"])]
        for latency in (20, 80):
            target = target_with("gemmini", "l2", latency, a.out)
            counts.append(cycles_of(a, kernel, script, target, sizes))
        table.append(counts)
    for k, title in enumerate(("40", "20", "80")):
        order = sorted(range(len(table)), key=lambda r: table[r][k] or float("inf"))
        best = table[order[0]][k]
        print(f"{name:18s} l2 {title}: " + " ".join(str(r + 1) for r in order) +
              f"  ({best:.0f}; that of 40 is {100 * (table[0][k] / best - 1):.1f} % more, the tenth "
              f"{100 * (table[order[-1]][k] / best - 1):.1f} %)", flush=True)


def library(a, name):
    """The hand-written library's order of things, with blocks that divide the sizes."""
    word, kernel, sizes, known = ROWS[name]
    if known is None:
        return
    if kernel == "i8gemm_scaled":
        n, k = known
        m = int(re.match(r"M=(\d+)", sizes).group(1))
        rows = next(r for r in ((4 if n % 128 == 0 else 8), 7, 1) if m % (16 * r) == 0)
        columns = next(c for c in ((8 if rows == 4 else 4), 4) if n % (16 * c) == 0)
        text = open(os.path.join(EXAMPLES, "gemmini_library.sched")).read()
        text = (text.replace("K=512", f"K={k}").replace("M % 64", f"M % {16 * rows}")
                .replace("N % 128", f"N % {16 * columns}")
                .replace("('io', 4), ('jo', 8)", f"('io', {rows}), ('jo', {columns})"))
        text = text if columns > 4 else text.replace("'joi', 4, ['joio', 'joii']", "'joi', 4, ['joio', 'joii']")
    else:
        size, channels = known
        rows = {56: 2, 28: 4, 14: 7}[size]
        text = open(os.path.join(EXAMPLES, "gemmini_conv_library.sched")).read()
        text = (text.replace("W=56, IC=64", f"W={size}, IC={channels}").replace("H % 2", f"H % {rows}")
                .replace("'y', 2, [", f"'y', {rows}, ["))
    script = os.path.join(a.out, name + "_library.sched")
    open(script, "w").write(text)
    count = cycles_of(a, kernel, script, "gemmini", sizes)
    found = json.load(open(glob.glob(os.path.join(a.out, name, "*.json"))[0]))["cycles"]["count"]
    if count is None:
        print(f"{name:18s} the model of the library does not fit: see {script}", flush=True)
    else:
        print(f"{name:18s} {count:>12.0f} cycles by the library's model, found {count / found:.2f} x faster",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool"), parser.add_argument("rows", nargs="*")
    parser.add_argument("--ranks", action="store_true"), parser.add_argument("--library", action="store_true")
    parser.add_argument("--no-search", action="store_true", help="take the databases that are there")
    parser.add_argument("--list", action="store_true"), parser.add_argument("--budget", default="180s")
    parser.add_argument("-o", dest="out", default="accelerators")
    a = parser.parse_args()
    if a.list:
        return print("\n".join(f"{n:18s} {t} {os.path.basename(k)} {s}" for n, (t, k, s, _) in ROWS.items()))
    for name in a.rows or ROWS:
        if name not in ROWS:
            sys.exit(f"no row '{name}': see --list")
        os.makedirs(a.out, exist_ok=True)
        if not a.no_search:
            search(a, name)
        if a.ranks:
            ranks(a, name)
        if a.library:
            library(a, name)


if __name__ == "__main__":
    main()
