#!/usr/bin/env python3
"""Times a tuned kernel against C compilers on its own plain loops, and against libraries.

    compare.py EXO_TUNE FILE.exo:KERNEL N=400,M=300 [--tuned OUT/STEM.c] [--rounds 9] [--target avx2]
               [--hand FILE.sched] [--place pages|malloc|spread] [--libraries openblas,onednn] [--keep FOLDER] [--build]

Compilers get the C of the unscheduled procedure at these sizes, with -O3 -march=MARCH -ffast-math:
gcc, clang, clang with Polly. Libraries are those with a call in libraries/calls.toml, held to the
target's instructions and to one thread. The tuned C is compiled as its own first lines say. All run in
one process, in turn, on equal inputs (values around 1, diagonals heavy), what is written copied anew before each
call; calls too short for a clock are timed together, one on each of several copies of the data. A first call, in
which a kernel's or a library's own memory is faulted in, counts only where it is dear. Rounds
go through the places where arrays begin (PLACES): a store some multiple of 4096 bytes behind a load
delays it, and one place may favour anybody. The least time at each place counts. What a library leaves
is compared with what the plain loops leave; of the tuned C the tuner has done that. A schedule by hand,
made for these sizes, is timed beside them.

Prints one line: kernel, time of each (geometric means over the places), ratio of the best compiler over
the tuned one (where places differ by 3 % also at each), of the best library, and the share of its roof
(which one, and what it gives, the tuner's record tells).
With --keep what was compiled stays in a folder and is not compiled again; --build does only that.
"""
import argparse, array, collections, ctypes, hashlib, json, math, os, re, struct, subprocess, sys, tempfile, time

import libraries

FAST = ["-O3", "-ffast-math", "-fno-math-errno"]
COMPILERS = {
    "gcc": ["gcc"] + FAST,
    "clang": ["clang"] + FAST,
    "polly": ["clang"] + FAST + ["-mllvm", "-polly"],
}
OURS = {"tuned", "hand"}
MARCH = {"avx2": "haswell"}  # what the compilers may use where it is not all that the CPU has
LONGEST = 5  # times the seconds asked for, after which one round is enough
PAGE = 4096
# Where argument number `a` begins in its page: as the suite allocates them, as malloc does, spread.
PLACES = {"pages": lambda a: 0, "malloc": lambda a: 16, "spread": lambda a: 64 * (5 * a + 1)}
FIRST_CACHE = 32 << 10  # what copies of a small problem may take together
MOST_COPIES = 64
MOST_ARGUMENTS = 16  # rounds.c
DEAR = 0.5           # seconds: a first call that takes longer counts
SHORTEST = 0.5       # seconds of rounds, at least: short calls have more
LONG = 1e-3          # seconds: a call by itself; caches and branches have forgotten the one before
Scalar = collections.namedtuple("Scalar", "code ctype exact")  # of array; how near results must be
SCALARS = {
    "f64": Scalar("d", ctypes.c_double, 1e-8), "f32": Scalar("f", ctypes.c_float, 2e-3),
    "i32": Scalar("i", ctypes.c_int32, 0), "i16": Scalar("h", ctypes.c_int16, 0),
    "ui16": Scalar("H", ctypes.c_uint16, 0), "i8": Scalar("b", ctypes.c_int8, 0), "ui8": Scalar("B", ctypes.c_uint8, 0),
    # As the C has them: 16 bits, of which bf16 are the upper half of a float.
    "f16": Scalar("H", ctypes.c_uint16, 5e-3), "bf16": Scalar("H", ctypes.c_uint16, 2e-2),
}
REALS = ("f64", "f32", "f16", "bf16")
HALF_BITS = {"f16": lambda v: struct.unpack("<H", struct.pack("<e", v))[0],
             "bf16": lambda v: struct.unpack("<I", struct.pack("<f", v))[0] >> 16}
HALF_VALUE = {"f16": lambda bits: struct.unpack("<e", struct.pack("<H", bits))[0],
              "bf16": lambda bits: struct.unpack("<f", struct.pack("<I", bits << 16))[0]}

Arg = collections.namedtuple("Arg", "name scalar count dims written")


def emit(tool, kernel, sizes, folder, schedule=None):
    """The C of the procedure at these sizes, as written or scheduled."""
    stem = "hand" if schedule else "plain"
    script = os.path.join(folder, stem + ".sched")
    lines = open(schedule).read() if schedule else f"p = {kernel.split(':')[1]}\n"
    # A schedule by hand may fix some sizes itself.
    open_ones = [s for s in sizes.split(",") if not re.search(rf"\b{s.split('=')[0]}=", lines)]
    with open(script, "w") as out:
        out.write(lines + (f"p = partial_eval(p, {', '.join(open_ones)})\n" if open_ones else ""))
    subprocess.run([tool, "schedule", kernel, script, "--emit", "c", "-o", folder, "--stem", stem],
                   check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, stem + ".c")


def require_scalar(name, scalar):
    """One argument less, and the call would read what nobody passed."""
    if scalar not in SCALARS:
        raise SystemExit(f"error: argument {name} is of type {scalar}, for which there are no values here")


def arguments(c_file):
    header = open(c_file[:-2] + ".h").read()
    text = re.search(r"/\* def \w+\((.*?)\):", header, re.S).group(1)
    read = re.findall(r"const \w+\* EXO_RESTRICT (\w+)|struct exo_win_\d\w+?c (\w+)", header)
    read = {name for pair in read for name in pair if name}
    out = []
    for arg in re.findall(r"(\w+): \[?(\w+)\]?(\[[^\]]*\])?", text):
        require_scalar(arg[0], arg[1])
        dims = [int(eval(d)) for d in (arg[2] or "[1]")[1:-1].split(",")]
        count = 1
        for d in dims:
            count *= d
        out.append(Arg(arg[0], arg[1], count, dims, arg[0] not in read))
    return out


def inputs(args, given):
    buffers = []
    for a in args:
        whole = a.scalar not in REALS
        data = [k * 7 % 5 if whole else 1 + (k * 7 % 13) / 13 for k in range(a.count)]
        if whole and a.count == 1:
            data[0] = 3  # it may divide
        if a.name in given:
            data[0] = given[a.name]
        if len(a.dims) == 2 and a.dims[0] == a.dims[1]:
            n = a.dims[0]
            for k in range(n):
                data[k * n + k] += 1 if whole else n * 2
        bits = HALF_BITS.get(a.scalar)
        buffers.append(array.array(SCALARS[a.scalar].code, map(bits, data) if bits else data))
    return buffers


class NotBuilt(Exception):
    pass


class Builder:
    """Compiles into a folder, once for each command and text."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, command, text, ending, link=()):
        command = command + ["-fPIC", "-shared", "-w", "-Wl,--no-undefined"]
        key = hashlib.sha1(("\n".join(command + list(link)) + text).encode()).hexdigest()[:16]
        out = os.path.join(self.folder, key + ".so")
        if not os.path.exists(out):
            source = os.path.join(self.folder, key + ending)
            with open(source, "w") as file:
                file.write(text)
            done = subprocess.run(command + [source, "-o", out + "~"] + list(link) + ["-lm"],
                                  stderr=subprocess.PIPE, text=True)
            if done.returncode:
                raise NotBuilt(next((l for l in done.stderr.splitlines() if "error" in l), "the compiler failed"))
            os.replace(out + "~", out)
        return out


def built_by(c_file):
    """The command that the generated file names; what it calls cc is clang here."""
    line = re.search(r"Build: (.*) -c ", open(c_file).read()).group(1).split()
    return [("clang" if line[0] == "cc" else line[0])] + line[1:]


POINTERS = "_of_pointers"  # who takes a pointer where the kernel takes a window


def whole(c_file):
    """The text with its header in it; of a kernel that takes windows, a function of pointers to dense ones, too."""
    stem = re.escape(os.path.basename(c_file)[:-2])
    header = open(c_file[:-2] + ".h").read()
    text = re.sub(rf'#include "{stem}\.h"', lambda _: header, open(c_file).read())
    windows = re.search(r"^void (\w+)\(([^;]*exo_win_[^;]*)\);", header, re.M)
    if not windows:
        return text
    name, formals = windows.groups()
    dims = {a.name: a.dims for a in arguments(c_file)}
    taken, handed = [], []
    for formal in formals.split(","):
        kind, argument = formal.split()[:-1], formal.split()[-1].lstrip("*")
        taken.append(f"void* {argument}")
        if not kind[-1].startswith("exo_win_"):
            handed.append(argument)
            continue
        steps = [math.prod(dims[argument][d + 1:]) for d in range(len(dims[argument]))]
        handed.append(f"({' '.join(kind)}){{{argument}, {{{', '.join(map(str, steps))}}}}}")
    return text + f"\nvoid {name}{POINTERS}({', '.join(taken)}) {{ {name}({', '.join(handed)}); }}\n"


def variants(a, folder, build):
    """{who: shared object}, the nest's name, its arguments, the scalars that have a value."""
    name = a.kernel.split(":")[1]
    plain = emit(a.tool, a.kernel, a.sizes, folder)
    args = arguments(plain)
    march = "-march=" + ("native" if a.target == libraries.widest_target() else MARCH.get(a.target, "native"))
    out = {who: build(command + [march], whole(plain), ".c") for who, command in COMPILERS.items()}
    if a.tuned:
        out["tuned"] = build(built_by(a.tuned), whole(a.tuned), ".c")
    if a.hand:
        hand = emit(a.tool, a.kernel, a.sizes, folder, a.hand)
        out["hand"] = build(built_by(hand), whole(hand), ".c")
    sizes = dict((k, int(v)) for k, v in (s.split("=") for s in a.sizes.split(",")))
    for who, library, statement in libraries.calls_for(name, [w for w in a.libraries.split(",") if w]):
        text, ending = libraries.source(name, library, statement, args, sizes)
        command, link = libraries.command(library, a.target)
        try:
            out[who] = build(command, text, ending, link)
        except NotBuilt as why:
            print(f"# {name}: no {who}: {why}", file=sys.stderr)
    return out, name, args, libraries.settings(name, sizes)


class Copies:
    """The arguments of some calls, each with memory of its own; `leading`: whole numbers in front of them.
    What a call only reads is filled once."""

    def __init__(self, args, pristine, place, leading=()):
        total = sum(len(b) * b.itemsize for b in pristine)
        self.sets = max(1, min(MOST_COPIES, FIRST_CACHE // max(1, total)))
        self.args, self.rooms, self.live = args, [], (ctypes.c_void_p * (self.sets * MOST_ARGUMENTS))()
        front = len(leading)
        self.count = front + len(args)
        self.bytes, self.pristine = (ctypes.c_size_t * MOST_ARGUMENTS)(), (ctypes.c_void_p * MOST_ARGUMENTS)()
        for s in range(self.sets):
            for k, value in enumerate(leading):
                self.live[s * MOST_ARGUMENTS + k] = value
            for k, (a, b) in enumerate(zip(args, pristine)):
                size = len(b) * b.itemsize
                room = ctypes.create_string_buffer(size + 2 * PAGE)
                page = -(-ctypes.addressof(room) // PAGE) * PAGE
                # Copies of one argument a multiple of a page apart would share a few sets of a cache.
                shift = (PAGE + s * total) % PAGE if self.sets > 1 else 0
                at = page + (shift // 64 * 64 + PLACES[place](k)) % PAGE
                self.rooms.append(room)
                self.live[s * MOST_ARGUMENTS + front + k] = at
                self.pristine[front + k], self.bytes[front + k] = b.buffer_info()[0], size if a.written else 0
                ctypes.memmove(at, b.buffer_info()[0], size)

    def seconds(self, timer, call, warm):
        return timer(call, self.live, self.pristine, self.bytes, self.count, self.sets, warm)

    def results(self, timer, call, but=()):
        """What one call leaves, a sample of at most 5000 of each array that it writes, `but` for some."""
        self.seconds(timer, call, False)
        out = []
        for k, a in enumerate(self.args):
            if a.written and a.name not in but:
                whole = (SCALARS[a.scalar].ctype * a.count).from_address(self.live[k])
                value = HALF_VALUE.get(a.scalar, lambda v: v)
                out.append((a.scalar, [value(v) for v in whole[:: max(1, a.count // 5000) | 1]]))
        return out


def agree(mine, theirs):
    for (scalar, x), (_, y) in zip(mine, theirs):
        scale = sum(abs(v) for v in x) / len(x)
        if any(not abs(v - w) <= SCALARS[scalar].exact * (abs(v) + scale) for v, w in zip(x, y)):
            return False
    return True


def timer_of(build):
    library = ctypes.CDLL(build(["gcc", "-O2"], open(os.path.join(libraries.HERE, "rounds.c")).read(), ".c"))
    library.seconds_of.restype = ctypes.c_double
    return library.seconds_of


def calls_of(built, name, copies, timer):
    """The functions in the shared objects, but for libraries that leave something else than the loops."""
    load = lambda path: ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    loaded = {who: load(path) for who, path in built.items()}
    calls = {who: ctypes.cast(getattr(library, name + POINTERS if hasattr(library, name + POINTERS) else name),
                              ctypes.c_void_p) for who, library in loaded.items()}
    free = libraries.scratch(name)
    expected = copies.results(timer, calls["gcc"], free) if set(calls) - OURS - set(COMPILERS) else None
    for who in set(calls) - OURS - set(COMPILERS):
        if not agree(expected, copies.results(timer, calls[who], free)):
            print(f"# {name}: {who} computes something else", file=sys.stderr)
            del calls[who]
    return calls


def measured(calls, copies, timer, a):
    """Least seconds of each variant, by place."""
    least = {place: {} for place in copies}
    places, order = list(copies), list(calls)
    round_, begin = -1, time.perf_counter()
    while round_ + 1 < a.rounds * len(places) or time.perf_counter() - begin < SHORTEST:
        round_ += 1
        place = places[round_ % len(places)]
        for who in order[round_ % len(order):] + order[:round_ % len(order)]:
            before = min((t[who] for t in least.values() if who in t), default=None)
            # The first call of all finds the memory that it keeps for itself not there yet.
            first = before is None
            if first:
                before = copies[place].seconds(timer, calls[who], False)
            spent = before
            if not first or before < DEAR:
                spent = copies[place].seconds(timer, calls[who], before < LONG)
            least[place][who] = min(least[place].get(who, spent), spent)
        spent = time.perf_counter() - begin
        if spent > LONGEST * a.seconds or (spent > a.seconds and round_ + 1 >= len(places)):
            break
    return {place: t for place, t in least.items() if t}


def mean(values):
    values = list(values)
    return math.exp(sum(math.log(v) for v in values) / len(values))


def roof(a, seconds):
    """'0.93 of L2': the record has the share that its own time reached."""
    record = json.load(open(a.tuned[:-2] + ".json"))
    known = record.get("roofline")
    if not known:
        return "-"
    share = known["percent"] / 100 * record["seconds"] / seconds
    return f"{share:.2f} of " + (known["level"] if known["bound"] == "memory" else "arithmetic")


def report(a, name, least):
    whole = {who: mean(t[who] for t in least.values()) for who in next(iter(least.values()))}
    line = f"{name:16s} " + "  ".join(f"{w} {1e6 * s:10.{1 if s > 1e-5 else 3}f}" for w, s in whole.items())
    line += " us"
    if a.tuned:
        over = lambda who: mean(t[who] / t["tuned"] for t in least.values())
        best = min(COMPILERS, key=whole.get)
        at = {place: t[best] / t["tuned"] for place, t in least.items()}
        line += f"  ratio {mean(at.values()):.2f}"
        if max(at.values()) > 1.03 * min(at.values()):
            line += "  (" + ", ".join(f"{place} {r:.2f}" for place, r in at.items()) + ")"
        if "hand" in whole:
            line += f"  hand {over('hand'):.2f}"
        others = set(whole) - OURS - set(COMPILERS)
        if others:
            best = min(others, key=whole.get)
            line += f"  library {over(best):.2f} ({best})"
        line += f"  roof {roof(a, whole['tuned'])}"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool"), parser.add_argument("kernel"), parser.add_argument("sizes")
    parser.add_argument("--tuned"), parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=12), parser.add_argument("--target", default=libraries.widest_target())
    parser.add_argument("--hand"), parser.add_argument("--place", choices=list(PLACES))
    parser.add_argument("--keep"), parser.add_argument("--build", action="store_true")
    parser.add_argument("--libraries", default="", help="names, by commas; all unless given")
    a = parser.parse_args()
    libraries.set_environment(a.target)
    with tempfile.TemporaryDirectory() as folder:
        if a.keep:
            os.makedirs(a.keep, exist_ok=True)
        build = Builder(a.keep or folder)
        built, name, args, given = variants(a, folder, build)
        timer = timer_of(build)
        if a.build:
            return
        pristine = inputs(args, given)
        copies = {place: Copies(args, pristine, place) for place in PLACES if not a.place or place == a.place}
        calls = calls_of(built, name, next(iter(copies.values())), timer)
        report(a, name, measured(calls, copies, timer, a))


if __name__ == "__main__":
    main()
