#!/usr/bin/env python3
"""Times a tuned kernel against C compilers on its own plain loops.

    compare.py EXO_TUNE FILE.exo:KERNEL N=400,M=300 [--tuned OUT/STEM.c] [--rounds 9] [--march native]

Compilers get the C of the unscheduled procedure at these sizes, with -O3 -march=MARCH -ffast-math:
gcc, clang, clang with Polly. The tuned C is compiled as its own first lines say. All run in one process, in turn, on equal inputs (values around 1, diagonals
heavy, arrays at the start of pages as in the suite), data copied anew before each call; the least time counts. Results are not compared here:
the tuner has done that. Prints one line: kernel, seconds of each, ratio of the best compiler
over the tuned one.
"""
import argparse, array, ctypes, os, re, subprocess, tempfile, time

FAST = ["-O3", "-ffast-math", "-fno-math-errno"]
COMPILERS = {
    "gcc": ["gcc"] + FAST,
    "clang": ["clang"] + FAST,
    "polly": ["clang"] + FAST + ["-mllvm", "-polly"],
}
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


def on_a_page(data):
    """Room for the data where a page begins, as the suite allocates it: (owner, address)."""
    room = ctypes.create_string_buffer(len(data) * data.itemsize + PAGE)
    return room, -(-ctypes.addressof(room) // PAGE) * PAGE


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
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plain, name = emit_plain(a.tool, a.kernel, a.sizes, folder)
        args = arguments(plain)
        variants = {}
        for who, command in COMPILERS.items():
            variants[who] = build(command, plain, os.path.join(folder, who + ".so"), ["-march=" + a.march])
        if a.tuned:
            variants["tuned"] = build(built_by(a.tuned), a.tuned, os.path.join(folder, "tuned.so"))
        pristine = inputs(args)
        live = [on_a_page(b) for b in pristine]
        pointers = [ctypes.c_void_p(address) for _, address in live]
        times = {who: [] for who in variants}
        begin = time.perf_counter()
        for round_ in range(a.rounds):
            for who, library in variants.items():
                for (_, address), p in zip(live, pristine):
                    ctypes.memmove(address, p.buffer_info()[0], len(p) * p.itemsize)
                call = getattr(library, name)
                start = time.perf_counter()
                call(*pointers)
                times[who].append(time.perf_counter() - start)
            spent = time.perf_counter() - begin
            if spent > LONGEST * a.seconds or (spent > a.seconds and round_ >= 2):
                break
        least = {who: min(t) for who, t in times.items()}
        best = min(least[w] for w in COMPILERS)
        line = f"{name:16s} " + "  ".join(f"{w} {1e6 * s:10.1f}" for w, s in least.items()) + " us"
        if a.tuned:
            line += f"  ratio {best / least['tuned']:.2f}"
        print(line, flush=True)


main()
