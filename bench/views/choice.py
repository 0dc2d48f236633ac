#!/usr/bin/env python3
"""Does the search choose the better of the loops as written and their views?

usage: choice.py [--exo-tune PATH] [--target T] [--time-budget SECONDS] [--db FILE] [--file F] [layers | products] [NAME ...]

layers    each convolution is searched three times from an empty database: its loops as written
          (--strategy beam), with every view that was found (eqsat), and as a user would (all). The
          choice is right when the last is at least 0.97 of the best that any run saw.
          --file layers_bytes.exo or layers_bytes_last.exo for machines that multiply bytes, channels
          first or last; runs in a billion cycles then. --channels 4 divides the channels by 4, so that
          a simulator runs the loops as written in a second.
products  NT, TN and TT products and chains beside the NN product of their size, copies included.

One line each; the exit code is 1 when a choice was wrong.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ENOUGH = 0.97

LAYERS = {  # name: (procedure, sizes); ResNet and MobileNet
    "resnet-3x3-56": ("conv3x3", "O=64,C=64,H=56,W=56"),
    "resnet-3x3-28": ("conv3x3", "O=128,C=128,H=28,W=28"),
    "resnet-3x3-14": ("conv3x3", "O=256,C=256,H=14,W=14"),
    "resnet-3x3-7": ("conv3x3", "O=512,C=512,H=7,W=7"),
    "resnet-3x3-stride-28": ("conv3x3_stride2", "O=128,C=64,H=28,W=28"),
    "resnet-1x1-56": ("conv1x1", "O=256,C=64,H=56,W=56"),
    "resnet-1x1-stride-28": ("conv1x1_stride2", "O=512,C=256,H=28,W=28"),
    "mobilenet-depthwise-56": ("depthwise3x3", "C=128,H=56,W=56"),
    "mobilenet-depthwise-stride-14": ("depthwise3x3_stride2", "C=256,H=14,W=14"),
    "mobilenet-1x1-7": ("conv1x1", "O=1024,C=512,H=7,W=7"),
}

PRODUCTS = {f"{kind}-{n}": (f"product_{kind}", f"M={n},N={n},K={n}")
            for n in (256, 512) for kind in ("nn", "nt", "tn", "tt")}


class Tuner:
    def __init__(self, options, folder):
        self.options, self.folder, self.count = options, folder, 0

    def file(self):
        return HERE / self.options.file

    def run(self, kernel, sizes, strategy):
        self.count += 1
        out = self.folder / str(self.count)
        command = [self.options.exo_tune, "kernel", kernel, "--size", sizes, "--strategy", strategy,
                   "--time-budget", f"{self.options.time_budget}s", "--no-peers", "--no-progress",
                   "-q", "--db", self.options.db or str(self.folder / f"{self.count}.db"),
                   "-o", str(out)]
        if self.options.target:
            command += ["--target", self.options.target]
        done = subprocess.run(command, capture_output=True, text=True)
        records = list(out.glob("*.json"))
        if done.returncode != 0 or not records:
            sys.exit(f"{' '.join(command)}\n{done.stderr.strip()}")
        return json.loads(records[0].read_text())


def speed(record):
    """GFLOP/s, or for a simulator runs in a billion cycles: more is better."""
    cycles = record.get("cycles", {}).get("count")
    return 1e9 / cycles if cycles else record.get("gflops") or 0.0


def views_of(record):
    return [v for v in record.get("views", []) if v.get("gflops")]


def compare_layers(tuner, names):
    print(f"{'layer':30} {'as written':>10} {'best view':>10} {'chosen':>10} {'of':>8}  ratio")
    wrong = 0
    for name in names or LAYERS:
        procedure, sizes = LAYERS[name]
        sizes = re.sub(r"\b([OC])=(\d+)", lambda m: f"{m[1]}={int(m[2]) // tuner.options.channels}",
                       sizes)
        runs = [tuner.run(f"{tuner.file()}:{procedure}", sizes, strategy)
                for strategy in ("beam", "eqsat", "all")]
        free = runs[-1]
        of_view = [any(v.get("chosen") for v in r.get("views", [])) for r in runs]
        # What won without being of a view is the nest as written, scheduled.
        written = [speed(r) for r, view in zip(runs, of_view) if not view]
        views = [v["gflops"] for r in runs for v in views_of(r)]
        views += [speed(r) for r, view in zip(runs, of_view) if view]
        chose_view = of_view[-1]
        best = max(written + views)
        ratio = speed(free) / best
        wrong += ratio < ENOUGH
        print(f"{name:30} {max(written, default=0):10.1f} {max(views, default=0):10.1f} "
              f"{speed(free):10.1f} {'a view' if chose_view else 'written':>8}  {ratio:.3f}", flush=True)
    return wrong


def compare_products(tuner, names):
    print(f"{'product':12} {'GFLOP/s':>8} {'of NN':>6}  view")
    plain, wrong = {}, 0
    for name in names or PRODUCTS:
        procedure, sizes = PRODUCTS[name]
        record = tuner.run(f"{tuner.file()}:{procedure}", sizes, "all")
        plain.setdefault(sizes, speed(record))
        ratio = speed(record) / plain[sizes]
        wrong += ratio < ENOUGH
        view = next((v["view"] for v in record.get("views", []) if v.get("chosen")), "")
        print(f"{name:12} {speed(record):8.1f} {ratio:6.3f}  {view}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--exo-tune", default=str(HERE.parents[1] / "build/release/bin/exo-tune"))
    parser.add_argument("--target")
    parser.add_argument("--file", default="layers.exo", help="of the layers, beside this program")
    parser.add_argument("--channels", type=int, default=1, help="as many times fewer channels")
    parser.add_argument("--time-budget", type=float, default=30)
    parser.add_argument("--db", help="keep trials here; otherwise each run begins with none")
    parser.add_argument("what", choices=("layers", "products"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = LAYERS if options.what == "layers" else PRODUCTS
    for name in options.names:
        if name not in known:
            parser.error(f"{name} is none of {', '.join(known)}")
    with tempfile.TemporaryDirectory() as folder:
        tuner = Tuner(options, pathlib.Path(folder))
        compare = compare_layers if options.what == "layers" else compare_products
        return 1 if compare(tuner, options.names) else 0


if __name__ == "__main__":
    sys.exit(main())
