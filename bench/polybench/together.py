#!/usr/bin/env python3
"""Times results of the tuner in turn, in one process: other forms of a nest, other searches for it.

    together.py RECORD.json RECORD.json ... [--size M=..,N=..] [--rounds 25] [--keep FOLDER]

Each is compiled as its record says; equal arguments are shared. Kernels made for any size run at those
that --size gives, and are measured against those for one size. Prints a line for each: the least time
and the median of the rounds' ratios of the first one's time over its own, with the first and the third
quartile: above 1 it is faster than the first. Each round takes the least of some calls; rounds go through
compare.py's places.
"""
import argparse, ctypes, json, os, re, statistics, tempfile

import compare, libraries


def arguments(stem, sizes):
    """(values of the leading sizes, Args) of the procedure in the header."""
    header = open(stem + ".h").read()
    record = json.load(open(stem + ".json"))
    text = re.search(rf"/\* def {record['proc']}\((.*?)\):", header, re.S).group(1)
    read = re.findall(r"const \w+\* EXO_RESTRICT (\w+)", header)
    leading = [sizes[name] for name in re.findall(r"(\w+): size", text)]
    args = []
    for name, scalar, shape in re.findall(r"(\w+): \[?(\w+)\]?(\[[^\]]*\])?", text):
        if scalar == "size":
            continue
        compare.require_scalar(name, scalar)
        dims = [int(eval(d, {}, sizes)) for d in (shape or "[1]")[1:-1].split(",")]
        count = 1
        for d in dims:
            count *= d
        args.append(compare.Arg(name, scalar, count, dims, name not in read))
    return leading, args


class Entry:
    def __init__(self, path, sizes, build):
        stem = path[: -len(".json")]
        record = json.load(open(path))
        self.name = os.path.basename(stem)
        shared = ctypes.CDLL(build(compare.built_by(stem + ".c"), compare.whole(stem + ".c"), ".c"))
        self.call = ctypes.cast(getattr(shared, record["proc"]), ctypes.c_void_p)
        self.leading, self.args = arguments(stem, sizes or record["measured_at"])
        self.key = str(self.leading) + str([a[1:] for a in self.args])


def places_of(entries):
    """Arguments at each place, shared by equal ones: [{key: Copies}]."""
    out = [{} for _ in compare.PLACES]
    for e in entries:
        pristine = compare.inputs(e.args, {})
        for fields, place in zip(out, compare.PLACES):
            if e.key not in fields:
                fields[e.key] = compare.Copies(e.args, pristine, place, e.leading)
                fields[e.key].kept = pristine
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("records", nargs="+"), parser.add_argument("--size", default="")
    parser.add_argument("--rounds", type=int, default=30), parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--keep")
    a = parser.parse_args()
    sizes = dict((k, int(v)) for k, v in (s.split("=") for s in a.size.split(",") if s))
    with tempfile.TemporaryDirectory() as folder:
        if a.keep:
            os.makedirs(a.keep, exist_ok=True)
        build = compare.Builder(a.keep or folder)
        entries = [Entry(path, sizes, build) for path in a.records]
        timer, places = compare.timer_of(build), places_of(entries)
        times = []
        for round_ in range(a.rounds):
            copies = places[round_ % len(places)]
            times.append([min(copies[e.key].seconds(timer, e.call, True) for _ in range(a.calls)) for e in entries])
    for k, entry in enumerate(entries):
        low, middle, high = statistics.quantiles([row[0] / row[k] for row in times], n=4)
        least = min(row[k] for row in times)
        print(f"{entry.name:24s} {1e6 * least:10.2f} us  {middle:.3f} [{low:.3f}, {high:.3f}]", flush=True)


if __name__ == "__main__":
    main()
