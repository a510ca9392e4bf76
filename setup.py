"""Builds the extension `lgint._core`; everything else is in pyproject.toml.

`python setup.py lapack_flags` prints the compile flags and the link flags of the LAPACK in use, one line each;
`python setup.py compile_flags` prints the flags that all C files share on every compiler, for tools that read them.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

# Flags that GCC, Clang and MinGW-w64 share; the kernels use vector types that Microsoft's compiler does not have.
# -ffp-contract=off: the same input gives the same bits on every machine of one kind
# -fno-wrapv: signed integers of the core never overflow, which Python's own flags do not assume
CFLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-wrapv", "-fvisibility=hidden", "-Wall", "-Wextra"]
# Otherwise GCC on x86 clears and copies structs of over 64 bytes with string instructions, which take 30 cycles to
# begin.
TUNING = [f"-mmem{what}-strategy=unrolled_loop:512:noalign,libcall:-1:noalign" for what in ("set", "cpy")]
# Nearly all loops in these files have few passes. Vectorised copies of them, for lengths that GCC does not know, only
# make the module larger.
SHORT_LOOPS = ("csrc/bind/", "csrc/model/", "csrc/sparse/complex.c", "csrc/sparse/schur.c")
OF_SHORT_LOOPS = ["-fvect-cost-model=very-cheap"]
# Tables to unwind the stack would be a twentieth of the module. C needs none on Linux; debuggers and profilers walk
# the stack through builds with -g.
if sys.platform == "linux":
    CFLAGS.append("-fno-asynchronous-unwind-tables")
# added by LGINT_SANITIZE=1 (make sanitize); a program that loads such a module must preload the sanitizers' library
SANITIZE = [
    *("-O1", "-g", "-fno-omit-frame-pointer", "-fasynchronous-unwind-tables"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover"),
]
# leaves the symbol table and the debug information, four fifths of the size, out of the module of a wheel
STRIP = ["-Wl,-S,-x" if sys.platform == "darwin" else "-Wl,-s"]
ORIGIN = "@loader_path" if sys.platform == "darwin" else "$ORIGIN"


@dataclass
class Lapack:
    """Flags for compiling csrc/sparse/linalg.c and for linking it."""

    name: str
    cflags: list[str]
    libs: list[str]
    library_dir: str = ""  # the folder of a shared library that the system's loader does not find
    macros: list[str] = field(default_factory=list)  # found by the probe

    def link_flags(self, *run_paths: str) -> list[str]:
        """Link flags with the given run paths, if the library needs any; Windows has no run paths."""
        needed = self.library_dir and sys.platform != "win32"
        return self.libs + [f"-Wl,-rpath,{path}" for path in run_paths if needed]


def find_lapack() -> Lapack:
    """Choose LAPACK: environment override, the wheel scipy-openblas32, pkg-config, plain -llapacke; say which."""
    tried = []
    for candidate in lapack_candidates():
        tried.append(candidate.name)
        if probe(candidate):
            print(f"lgint: LAPACK from {candidate.name} {' '.join(candidate.macros)}", file=sys.stderr)
            return candidate
    sys.exit(f"lgint: no LAPACKE found (tried {', '.join(tried)}); set LGINT_LAPACK_CFLAGS and LGINT_LAPACK_LIBS")


def sanitize_flags() -> list[str]:
    """Flags of the sanitizers if the environment asks for them."""
    return SANITIZE if os.environ.get("LGINT_SANITIZE") else []


def lapack_candidates():
    """Places to look, best first; an environment override is the only one if it is given."""
    libs = os.environ.get("LGINT_LAPACK_LIBS")
    if libs is not None:
        cflags = os.environ.get("LGINT_LAPACK_CFLAGS", "")
        yield Lapack("the environment", shlex.split(cflags), shlex.split(libs))
        return

    try:
        import scipy_openblas32 as wheel

        path = wheel.get_lib_dir()
        yield Lapack("scipy-openblas32", [f"-I{wheel.get_include_dir()}"], [f"-L{path}", "-lscipy_openblas"], path)
    except ImportError:
        pass

    for package in ("lapacke", "openblas"):
        flags = [pkg_config(what, package) for what in ("--cflags", "--libs")]
        if None not in flags:
            yield Lapack(f"pkg-config {package}", *flags)

    yield Lapack("-llapacke", [], ["-llapacke"])


def pkg_config(what: str, package: str) -> list[str] | None:
    """Return the flags that pkg-config gives for a package, or None."""
    try:
        run = subprocess.run(["pkg-config", what, package], capture_output=True, text=True)
    except OSError:
        return None
    return shlex.split(run.stdout) if run.returncode == 0 else None


def probe(lapack: Lapack) -> bool:
    """Link calls to find the prefix of LAPACK's names and the macros for sparse/linalg.c; return whether it worked."""
    given = os.environ.get("LGINT_LAPACK_PREFIX")
    for prefix in ["scipy_", ""] if given is None else [given]:
        call = f"lapack_int n = 0; double a = 0; return (int){prefix}LAPACKE_dgetrf_work(102, n, n, &a, 1, &n);"
        if links(f"#include <lapacke.h>\nint main(void) {{ {call} }}\n", lapack):
            lapack.macros = [f"-DLG_LAPACK_PREFIX={prefix}"] if prefix else []
            threads = f"{prefix}openblas_set_num_threads"
            if links(f"void {threads}(int);\nint main(void) {{ {threads}(1); return 0; }}\n", lapack):
                lapack.macros.append("-DLG_HAVE_OPENBLAS_THREADS")
            return True
    return False


def accepted(flags: list[str]) -> list[str]:
    """Those of some flags that this compiler accepts without a warning."""
    program = "int main(void) { return 0; }\n"
    return [flag for flag in flags if links(program, Lapack(flag, ["-Werror", flag], []))]


def links(program: str, lapack: Lapack) -> bool:
    """Whether a C program compiles, without an undeclared function, and links."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text(program)
        flags = ["-Werror=implicit-function-declaration", *lapack.cflags]
        command = [*compiler, *flags, str(source), "-o", str(source.with_suffix("")), *lapack.link_flags()]
        return subprocess.run(command, capture_output=True).returncode == 0


class BuildCore(build_ext):
    """Compiles the files of an extension side by side, and only those that changed."""

    def finalize_options(self):
        """Choose MinGW-w64 on Windows, where setuptools would choose Microsoft's compiler."""
        super().finalize_options()
        if sys.platform == "win32" and self.compiler is None:
            self.compiler = "mingw32"

    def run(self):
        """Remember whether the module stays where it is built, which setuptools forgets later."""
        self.stays = self.inplace or self.editable_mode or sanitize_flags()
        super().run()

    def build_extension(self, ext):
        """Give the extension its LAPACK and NumPy, then build it."""
        import numpy

        lapack = find_lapack()
        paths = [f"{ORIGIN}/../scipy_openblas32/lib"]
        if self.stays:  # the library is in the environment that builds it
            paths.append(os.path.join(sysconfig.get_path("platlib"), "scipy_openblas32", "lib"))
        ext.include_dirs.append(numpy.get_include())
        ext.extra_compile_args += lapack.cflags + lapack.macros + accepted(TUNING) + sanitize_flags()
        ext.extra_link_args += lapack.link_flags(*paths) + sanitize_flags() + ([] if self.stays else STRIP)
        if self.editable_mode:  # setuptools would throw the objects away
            tag = f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
            self.build_temp = os.path.join("build", f"temp.{tag}")
        self.build_temp = os.path.join(self.build_temp, lapack.name.replace(" ", "-"))
        self.compiler.compile = partial(compile_changed, self.compiler)
        super().build_extension(ext)
        if sys.platform == "win32" and lapack.library_dir:  # a module finds a DLL beside it
            folder = os.path.dirname(self.get_ext_fullpath(ext.name))
            shutil.copy(os.path.join(lapack.library_dir, "libscipy_openblas.dll"), folder)
            copy_licence(folder)


class BuildPython(build_py):
    """Leaves the benchmarks out of wheels: they compare with other programs and with files of the sources."""

    def find_package_modules(self, package, package_dir):
        """The modules of a package as (package, module, file)."""
        found = super().find_package_modules(package, package_dir)
        return [row for row in found if sanitize_flags() or not row[1].startswith("bench")]


def copy_licence(folder: str) -> None:
    """Put the licence of OpenBLAS and of what is linked into it beside a copy of the library."""
    found = [file for file in metadata.files("scipy-openblas32") or [] if file.name.startswith("LICENSE")]
    shutil.copy(found[0].locate(), os.path.join(folder, "LICENSE.openblas.txt"))


def compile_changed(compiler, sources, output_dir, macros, include_dirs, debug, extra_postargs, depends):
    """Replace `compiler.compile`: in parallel, and only what is not current; `depends` is not needed."""
    macros, objects, extra, pp_opts, build = compiler._setup_compile(
        output_dir, macros, include_dirs, sources, depends, extra_postargs
    )
    cc_args = compiler._get_cc_args(pp_opts, debug, None)
    of_short_loops = accepted(OF_SHORT_LOOPS)

    def compile_one(obj):
        source, suffix = build[obj]
        if not is_current(Path(obj)):
            more = of_short_loops if Path(source).as_posix().startswith(SHORT_LOOPS) else []
            compiler._compile(obj, source, suffix, cc_args, [*extra, *more, "-MMD"], pp_opts)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, objects))
    return objects


def is_current(obj: Path) -> bool:
    """Whether an object is newer than this file and all files that its compiler read, which -MMD lists beside it."""
    try:
        read = obj.with_suffix(".d").read_text().replace("\\\n", "").split(":", 1)[1].split()
        return obj.stat().st_mtime > max(os.path.getmtime(path) for path in ["setup.py", *read])
    except OSError:  # something is missing
        return False


def print_lapack_flags() -> None:
    """Compile flags on one line, link flags on a second, for programs that run from the build tree."""
    lapack = find_lapack()
    print(shlex.join(lapack.cflags + lapack.macros))
    print(shlex.join(lapack.link_flags(lapack.library_dir)))


def print_compile_flags() -> None:
    """Flags that all C files of the extension share on every compiler, on one line."""
    import numpy

    lapack = find_lapack()
    headers = [f"-isystem{path}" for path in (sysconfig.get_path("include"), numpy.get_include())]
    print(shlex.join([*CFLAGS, "-Icsrc", *headers, *lapack.cflags, *lapack.macros]))


def core() -> Extension:
    """Describe the extension module: every C file below csrc."""
    root = Path("csrc")
    headers = sorted(str(path) for pattern in ("*.h", "*.def") for path in root.glob(f"**/{pattern}"))
    return Extension(
        "lgint._core",
        sources=sorted(str(path) for path in root.glob("**/*.c")),
        include_dirs=["csrc"],
        depends=[*headers, "setup.py"],
        extra_compile_args=list(CFLAGS),
        libraries=["m"],
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["lapack_flags"]:
        print_lapack_flags()
    elif sys.argv[1:] == ["compile_flags"]:
        print_compile_flags()
    else:
        setup(ext_modules=[core()], cmdclass={"build_ext": BuildCore, "build_py": BuildPython})
