"""Library calls that compute what a nest does: libraries/calls.toml, a row of text each."""
import os, re, tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "libraries")
TYPES = {"f64": "double", "f32": "float", "i32": "int32_t", "i8": "int8_t"}


def table():
    with open(os.path.join(FOLDER, "calls.toml"), "rb") as file:
        return tomllib.load(file)


def widest_target():
    """Of the targets for CPUs that are compared, the one with all that this CPU has."""
    with open("/proc/cpuinfo") as file:
        return "avx512" if "avx512f" in file.read().split() else "avx2"


def peers_of(target):
    """What the target's own text says of the libraries that it may be compared with."""
    with open(os.path.join(HERE, "..", "..", "hw", target, "target.toml"), "rb") as file:
        return tomllib.load(file).get("peers", {})


def set_environment(target):
    """One thread each, the target's instructions; before any library is loaded."""
    for name in list(os.environ):
        if re.match(r"(OPENBLAS|BLIS|DNNL|LIBXSMM|OMP|MKL|GOTO)_", name):
            del os.environ[name]
    for name in ["OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS"]:
        os.environ[name] = "1"
    peers = peers_of(target)
    for library, row in table()["library"].items():
        core = peers.get(library, [""])[0] or row.get("cores", {}).get(target, "")
        if row.get("variable") and core:
            os.environ[row["variable"]] = core


def calls_for(nest, only=()):
    """(name, row of the library, statement) of each call that the table has for the nest."""
    all_of_it = table()
    row = all_of_it["nest"].get(nest, {})
    for words, statement in row.items():
        if words in ("set", "scratch"):
            continue
        base = words.split("_")[0]
        for name, library in all_of_it["library"].items():
            if base in (name, library.get("words")) and (not only or name in only):
                yield name + words[len(base):], library, statement


def settings(nest, sizes):
    """Scalar arguments with a value of their own: {name: value}."""
    row = table()["nest"].get(nest, {})
    return {name: eval(text, {}, sizes) for name, text in row.get("set", {}).items()}


def scratch(nest):
    """Arguments that need not hold what the nest leaves in them."""
    return table()["nest"].get(nest, {}).get("scratch", [])


def source(nest, library, statement, args, sizes):
    """The text of a function with the nest's own arguments, and how its file's name ends."""
    plus = "-std=c++17" in library.get("flags", [])
    parameters = ", ".join(f"{'' if a.written else 'const '}{TYPES[a.scalar]}* {a.name}" for a in args)
    known = ", ".join(f"{name} = {value}" for name, value in sizes.items())
    words = open(os.path.join(FOLDER, library["header"])).read()
    text = f"""{words}
{"constexpr long" if plus else "enum {"} {known}{";" if plus else " };"}
{'extern "C" ' if plus else ''}void {nest}({parameters}) {{ {statement} }}
"""
    return text, ".cc" if plus else ".c"


def command(library, target):
    plus = "-std=c++17" in library.get("flags", [])
    flags = library.get("flags", ["-O3", "-ffast-math"])
    compiler = ["clang++" if plus else "clang"]
    return compiler + peers_of(target).get("flags", []) + flags, library.get("link", [])
