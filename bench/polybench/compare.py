#!/usr/bin/env python3
"""Times a tuned kernel against C compilers on its own plain loops.

    compare.py EXO_TUNE FILE.exo:KERNEL N=400,M=300 [--tuned OUT/STEM.c] [--rounds 9] [--march native]
               [--place pages|malloc|spread]

Compilers get the C of the unscheduled procedure at these sizes, with -O3 -march=MARCH -ffast-math:
gcc, clang, clang with Polly. The tuned C is compiled as its own first lines say. All run in one process, in
turn, on equal inputs (values around 1, diagonals heavy), data copied anew before each call; calls too short
for a clock are timed together, one on each of several copies of the data. Rounds go through the places where
arrays begin (PLACES): a store some multiple of 4096 bytes behind a load delays it, and one place may favour
anybody. The least time at each place counts. Results are not compared here: the tuner has done that. Prints one
line: kernel, time of each (geometric means over the places), ratio of the best compiler over the tuned one, and
where places differ by 3 % the ratio at each.
"""
import argparse, array, ctypes, math, os, re, subprocess, tempfile, time

FAST = ["-O3", "-ffast-math", "-fno-math-errno"]
COMPILERS = {
    "gcc": ["gcc"] + FAST,
    "clang": ["clang"] + FAST,
    "polly": ["clang"] + FAST + ["-mllvm", "-polly"],
}
HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST = 5  # times the seconds asked for, after which one round is enough


def emit_plain(tool, kernel, sizes, folder):
    name = kernel.split(":")[1]
    script = os.path.join(folder, "plain.sched")
    with open(script, "w") as out:
        out.write(f"p = {name}\np = partial_eval(p, {sizes.replace(',', ', ')})\n")
    subprocess.run([tool, "schedule", kernel, script, "--emit", "c", "-o", folder, "--stem", "plain"],
                   check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, "plain.c"), name


def arguments(c_file):
    header = open(c_file[:-2] + ".h").read()
    text = re.search(r"/\* def \w+\((.*?)\):", header, re.S).group(1)
    out = []
    for arg in re.findall(r"(\w+): \[?(f64|f32|i32|i8)\]?(\[[^\]]*\])?", text):
        count = 1
        for d in (arg[2] or "[1]")[1:-1].split(","):
            count *= eval(d)
        out.append((arg[0], arg[1], count, arg[2]))
    return out


def inputs(args):
    buffers = []
    for name, scalar, count, shape in args:
        code = {"f64": "d", "f32": "f", "i32": "i", "i8": "b"}[scalar]
        data = array.array(code, [(1 + (k * 7 % 13) / 13) if code in "df" else k * 7 % 5 for k in range(count)])
        dims = (shape or "[1]")[1:-1].split(",")
        if len(dims) == 2 and dims[0].strip() == dims[1].strip():
            n = int(eval(dims[0]))
            for k in range(n):
                data[k * n + k] += n * 2 if code in "df" else 1
        buffers.append(data)
    return buffers


PAGE = 4096
# Where argument number `a` begins in its page: as the suite allocates them, as malloc does, spread.
PLACES = {"pages": lambda a: 0, "malloc": lambda a: 16, "spread": lambda a: 64 * (5 * a + 1)}
FIRST_CACHE = 32 << 10  # what copies of a small problem may take together
MOST_COPIES = 64
MOST_ARGUMENTS = 16  # rounds.c
SHORTEST = 0.5       # seconds of rounds, at least: short calls have more
LONG = 1e-3          # seconds: a call by itself; caches and branches have forgotten the one before


class Copies:
    """The arguments of some calls, each with memory of its own."""

    def __init__(self, pristine, place):
        total = sum(len(b) * b.itemsize for b in pristine)
        self.sets = max(1, min(MOST_COPIES, FIRST_CACHE // max(1, total)))
        self.rooms, self.live = [], (ctypes.c_void_p * (self.sets * MOST_ARGUMENTS))()
        self.bytes = (ctypes.c_size_t * MOST_ARGUMENTS)(*[len(b) * b.itemsize for b in pristine])
        self.pristine = (ctypes.c_void_p * MOST_ARGUMENTS)(*[b.buffer_info()[0] for b in pristine])
        self.count = len(pristine)
        for s in range(self.sets):
            for a, b in enumerate(pristine):
                room = ctypes.create_string_buffer(len(b) * b.itemsize + 2 * PAGE)
                page = -(-ctypes.addressof(room) // PAGE) * PAGE
                # Copies of one argument a multiple of a page apart would share a few sets of a cache.
                shift = (PAGE + s * total) % PAGE if self.sets > 1 else 0
                self.rooms.append(room)
                self.live[s * MOST_ARGUMENTS + a] = page + (shift // 64 * 64 + PLACES[place](a)) % PAGE

    def seconds(self, timer, call, warm):
        return timer(call, self.live, self.pristine, self.bytes, self.count, self.sets, warm)


def timer_of(folder):
    library = build(["gcc", "-O2"], os.path.join(HERE, "rounds.c"), os.path.join(folder, "rounds.so"))
    library.seconds_of.restype = ctypes.c_double
    return library.seconds_of


def measured(variants, name, pristine, timer, a):
    """Least seconds of each variant, by place."""
    places = [p for p in PLACES if not a.place or p == a.place]
    copies = {place: Copies(pristine, place) for place in places}
    least = {place: {} for place in places}
    round_, begin = -1, time.perf_counter()
    while round_ + 1 < a.rounds * len(places) or time.perf_counter() - begin < SHORTEST:
        round_ += 1
        place = places[round_ % len(places)]
        for who in list(variants)[round_ % len(variants):] + list(variants)[:round_ % len(variants)]:
            call = ctypes.cast(getattr(variants[who], name), ctypes.c_void_p)
            before = min((t[who] for t in least.values() if who in t), default=None)
            spent = copies[place].seconds(timer, call, before is not None and before < LONG)
            least[place][who] = min(least[place].get(who, spent), spent)
        spent = time.perf_counter() - begin
        if spent > LONGEST * a.seconds or (spent > a.seconds and round_ + 1 >= len(places)):
            break
    return {place: t for place, t in least.items() if t}


def mean(values):
    values = list(values)
    return math.exp(sum(math.log(v) for v in values) / len(values))


def report(name, least, tuned):
    whole = {who: mean(t[who] for t in least.values()) for who in next(iter(least.values()))}
    line = f"{name:16s} " + "  ".join(f"{w} {1e6 * s:10.{1 if s > 1e-5 else 3}f}" for w, s in whole.items())
    line += " us"
    if tuned:
        best = min(COMPILERS, key=whole.get)
        at = {place: t[best] / t["tuned"] for place, t in least.items()}
        line += f"  ratio {mean(at.values()):.2f}"
        if max(at.values()) > 1.03 * min(at.values()):
            line += "  (" + ", ".join(f"{place} {r:.2f}" for place, r in at.items()) + ")"
    print(line, flush=True)


def build(command, source, out, flags=()):
    subprocess.run(command + list(flags) + ["-fPIC", "-shared", "-w", source, "-o", out, "-lm"], check=True)
    return ctypes.CDLL(out)


def built_by(c_file):
    """The command that the generated file names; what it calls cc is clang here."""
    line = re.search(r"Build: (.*) -c ", open(c_file).read()).group(1).split()
    return [("clang" if line[0] == "cc" else line[0])] + line[1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool"), parser.add_argument("kernel"), parser.add_argument("sizes")
    parser.add_argument("--tuned"), parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=12), parser.add_argument("--march", default="native")
    parser.add_argument("--place", choices=list(PLACES))
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plain, name = emit_plain(a.tool, a.kernel, a.sizes, folder)
        args = arguments(plain)
        variants = {}
        for who, command in COMPILERS.items():
            variants[who] = build(command, plain, os.path.join(folder, who + ".so"), ["-march=" + a.march])
        if a.tuned:
            variants["tuned"] = build(built_by(a.tuned), a.tuned, os.path.join(folder, "tuned.so"))
        least = measured(variants, name, inputs(args), timer_of(folder), a)
        report(name, least, a.tuned)


main()
