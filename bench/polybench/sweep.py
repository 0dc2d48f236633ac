#!/usr/bin/env python3
"""Tunes plain nests and times each winner against the C compilers and the libraries.

    sweep.py EXO_TUNE [KERNEL|GROUP ...] [--budget 20s] [--only tune|build|compare]
             [--at small|cache|memory] [--size M=100 ...] [--target avx2] [--libraries openblas,onednn]
             [-o FOLDER]

Kernels are those of kernels/polybench at the suite's medium sizes (large ones at `memory`) and of
kernels/nests (and of forms.exo here) at one of the three in their `# sizes:` lines, or at each given by
--size; a group is a file's name (`stencils`), or `polybench`. Prints compare.py's line for each, then the
geometric mean and the least of the ratios, of the best of gcc, clang and Polly over the tuned C and of
the best library that has the computation. With `--target avx2` the compilers and libraries are held to
AVX2, too. What they make of the nests stays in FOLDER/built; `--only build` does that alone, on another
core than the one that measures, say.
"""
import argparse, difflib, glob, math, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "..", "kernels")
MEDIUM = {
    "gemm": "NI=200,NJ=220,NK=240", "k2mm": "NI=180,NJ=190,NK=210,NL=220",
    "k3mm": "NI=180,NJ=190,NK=200,NL=210,NM=220", "atax": "M=390,N=410", "bicg": "N=410,M=390",
    "doitgen": "NR=50,NQ=40,NP=60", "mvt": "N=400", "gemver": "N=400", "gesummv": "N=250",
    "symm": "M=200,N=240", "syrk": "N=240,M=200", "syr2k": "N=240,M=200", "trmm": "M=200,N=240",
    "cholesky": "N=400", "lu": "N=400", "ludcmp": "N=400", "trisolv": "N=400", "durbin": "N=400",
    "gramschmidt": "M=200,N=240", "covariance": "N=260,M=240", "correlation": "N=260,M=240",
    "deriche": "W=720,H=480", "floyd_warshall": "N=500", "nussinov": "N=500",
    "jacobi_1d": "T=100,N=400", "jacobi_2d": "T=100,N=250", "seidel_2d": "T=100,N=400",
    "fdtd_2d": "T=100,NX=200,NY=240", "heat_3d": "T=100,N=40", "adi": "T=100,N=200",
}

LARGE = {
    "gemm": "NI=1000,NJ=1100,NK=1200", "k2mm": "NI=800,NJ=900,NK=1100,NL=1200",
    "k3mm": "NI=800,NJ=900,NK=1000,NL=1100,NM=1200", "atax": "M=1900,N=2100", "bicg": "N=2100,M=1900",
    "doitgen": "NR=150,NQ=140,NP=160", "mvt": "N=2000", "gemver": "N=2000", "gesummv": "N=1300",
    "symm": "M=1000,N=1200", "syrk": "N=1200,M=1000", "syr2k": "N=1200,M=1000", "trmm": "M=1000,N=1200",
    "cholesky": "N=2000", "lu": "N=2000", "ludcmp": "N=2000", "trisolv": "N=2000", "durbin": "N=2000",
    "gramschmidt": "M=1000,N=1200", "covariance": "N=1400,M=1200", "correlation": "N=1400,M=1200",
    "deriche": "W=4096,H=2160", "floyd_warshall": "N=2800", "nussinov": "N=2500",
    "jacobi_1d": "T=500,N=2000", "jacobi_2d": "T=500,N=1300", "seidel_2d": "T=500,N=2000",
    "fdtd_2d": "T=500,NX=1000,NY=1200", "heat_3d": "T=500,N=120", "adi": "T=500,N=1000",
}


PLACES = ["small", "cache", "memory"]


def kernels(place):
    """(group, name, FILE.exo:name, sizes) of every kernel; a `# sizes:` line stands before its @proc."""
    suite = LARGE if place == "memory" else MEDIUM
    for path in sorted(glob.glob(os.path.join(KERNELS, "polybench", "*.exo"))):
        for name in re.findall(r"^def (\w+)\(", open(path).read(), re.M):
            yield "polybench", name, f"{path}:{name}", suite[name]
    for path in sorted(glob.glob(os.path.join(KERNELS, "nests", "*.exo"))) + [os.path.join(HERE, "forms.exo")]:
        group = os.path.basename(path)[:-4]
        for sizes, name in re.findall(r"^# sizes: (.+)\n@proc\ndef (\w+)\(", open(path).read(), re.M):
            yield group, name, f"{path}:{name}", sizes.split()[PLACES.index(place)]


def chosen(a):
    """(stem, FILE.exo:name, sizes) of all that is asked for."""
    for group, name, kernel, usual in kernels(a.at):
        if a.names and name not in a.names and group not in a.names:
            continue
        for sizes in a.size or [usual]:
            stem = name + ("." + re.sub(r"[^0-9]+", "x", sizes).strip("x") if a.size else "")
            yield stem, kernel, sizes


def tune(a, name, kernel, sizes):
    command = [a.tool, "kernel", kernel, "--size", sizes, "--time-budget", a.budget, "--db",
               os.path.join(a.out, name + ".db"), "-o", a.out, "--stem", name, "--no-progress", "-v"]
    if a.target:
        command += ["--target", a.target]
    with open(os.path.join(a.out, name + ".log"), "w") as log:
        return subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode == 0


def compare(a, name, kernel, sizes):
    """(ratio over the best compiler, ratio over the best library); nothing for what is not known."""
    tuned = os.path.join(a.out, name + ".c")
    command = [sys.executable, os.path.join(HERE, "compare.py"), a.tool, kernel, sizes,
               "--tuned", tuned, "--seconds", str(a.seconds), "--keep", os.path.join(a.out, "built"),
               "--libraries", a.libraries] + (["--target", a.target] if a.target else []) + \
              (["--build"] if a.only == "build" else [])
    if not os.path.exists(tuned):
        print(f"{name:16s} no result: see {a.out}/{name}.log", flush=True)
        return None, None
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if a.only == "build":
        return None, None
    print(done.stdout.strip() or f"{name:16s} was not compared", flush=True)
    found = [re.search(word + r" (\d\S*)", done.stdout) for word in ("ratio", "library")]
    return tuple(float(f.group(1)) if f else None for f in found)


def summary(ratios, over):
    known = [r for r in ratios if r]
    if known:
        mean = math.exp(sum(math.log(r) for r in known) / len(known))
        print(f"over the best {over}, {len(known)} of {len(ratios)}: geometric mean {mean:.2f}, least {min(known):.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool"), parser.add_argument("names", nargs="*")
    parser.add_argument("--budget", default="20s"), parser.add_argument("--only", default="")
    parser.add_argument("--size", action="append", default=[])
    parser.add_argument("--at", choices=PLACES, default="cache")
    parser.add_argument("--target", default=""), parser.add_argument("--libraries", default="")
    parser.add_argument("--seconds", type=float, default=4), parser.add_argument("-o", dest="out", default="out")
    a = parser.parse_args()
    known = {word for group, name, _, _ in kernels(a.at) for word in (group, name)}
    for name in a.names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            parser.error(f"there is no kernel or group '{name}'" + (f"; did you mean {near[0]}?" if near else ""))
    os.makedirs(a.out, exist_ok=True)
    ratios = []
    for name, kernel, sizes in chosen(a):
        if a.only not in ("build", "compare") and not tune(a, name, kernel, sizes):
            print(f"{name:16s} the tuner failed: see {a.out}/{name}.log", flush=True)
        if a.only != "tune":
            ratios.append(compare(a, name, kernel, sizes))
    summary([r for r, _ in ratios], "compiler")
    summary([r for _, r in ratios], "library")


if __name__ == "__main__":
    main()
