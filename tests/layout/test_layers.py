"""The source tree keeps its layers, symbols and sizes, and the checks find violations."""

from pathlib import Path
from statistics import median

import pytest

from layout import house

ROOT = Path(__file__).parents[2]
CHECKS = [
    house.include_violations,
    house.import_violations,
    house.circle_violations,
    house.call_violations,
    house.prefix_violations,
    house.common_name_violations,
    house.mutable_violations,
    house.point_violations,
    house.length_violations,
]


@pytest.mark.parametrize("check", CHECKS)
def test_the_tree_keeps_the_rules(check):
    assert check(ROOT) == []


def test_the_tree_is_seen():
    rooms = {house.room_of(path) for path in house.c_files(ROOT)}
    assert rooms == set(house.MAY_SEE)
    names = {function.name for function in house.functions(ROOT)}
    assert {"lg_status_name", "lg_hat3", "test_the_tree_is_seen"} <= names


def test_functions_are_short():
    assert median(function.lines for function in house.c_functions(ROOT, house.c_files(ROOT))) <= 9
    assert median(function.lines for function in house.python_functions(ROOT)) <= 5


def test_exceptions_are_needed():
    long = {function.name for function in house.functions(ROOT) if function.lines > house.MAX_FUNCTION}
    assert long == set(house.LONGER)


VIOLATIONS = [
    (house.include_violations, "csrc/core/a.c", '#include "group/node.h"'),
    (house.include_violations, "csrc/group/a.h", '#include "system/system.h"'),
    (house.include_violations, "csrc/model/a.c", '#include "integrator/stepper.h"'),
    (house.include_violations, "csrc/model/a.c", '#include "solve/newton.h"'),
    (house.include_violations, "csrc/integrator/a.c", '# include "model/model.h"'),
    (house.include_violations, "csrc/solve/a.c", '#include "model/model.h"'),
    (house.include_violations, "csrc/solve/a.c", '#include "integrator/stepper.h"'),
    (house.include_violations, "csrc/integrator/a.c", '#include "bind/module.h"'),
    (house.include_violations, "csrc/integrator/a.c", "#include <Python.h>"),
    (house.include_violations, "csrc/core/a.c", "#include <numpy/arrayobject.h>"),
    (house.include_violations, "csrc/integrator/a.c", '#include "run/run.h"'),
    (house.include_violations, "csrc/core/a.c", "#include <lapacke.h>"),
    (house.include_violations, "csrc/bind/a.c", "#include <lapacke.h>"),
    (house.include_violations, "csrc/core/a.c", "#include <unistd.h>"),
    (house.import_violations, "notebooks/a.ipynb", '"from lgint import _core\\n"'),
    (house.import_violations, "benchmarks/a.py", "import lgint._core"),
    (house.call_violations, "csrc/core/a.c", 'void lg_f(void)\n{\n    printf("x");\n}\n'),
    (house.call_violations, "csrc/model/a.c", "void lg_f(void)\n{\n    abort();\n}\n"),
    (house.prefix_violations, "csrc/core/a.c", "int f(int a)\n{\n    return a;\n}\n"),
    (house.prefix_violations, "csrc/bind/a.c", "lg_status *f(void)\n{\n    return 0;\n}\n"),
    (house.prefix_violations, "csrc/core/a.c", "const double table[] = {1, 2};\n"),
    (house.mutable_violations, "csrc/core/a.c", "static int count;\n"),
    (house.mutable_violations, "csrc/core/a.c", "static double table[2] = {1, 2};\n"),
    (house.mutable_violations, "csrc/core/a.c", 'static const char *names[] = {"a"};\n'),
    (house.mutable_violations, "csrc/core/a.c", "struct lg_a lg_shared = {0};\n"),
    (house.mutable_violations, "csrc/core/a.c", "static int (*hook)(int) = 0;\n"),
    (house.mutable_violations, "csrc/core/a.c", "static int (*hook)(int);\n"),
    (house.mutable_violations, "csrc/core/a.c", "int lg_f(void)\n{\n    static int n = 0;\n    return ++n;\n}\n"),
    (house.point_violations, "csrc/run/a.c", "void lg_f(void)\n{\n    lg_point p = {.t = 1};\n}\n"),
    (house.point_violations, "csrc/model/a.h", "lg_point lg_f(void)\n{\n    return (lg_point){.t = 1};\n}\n"),
    (house.length_violations, "csrc/core/a.c", "int lg_f(int a)\n{\n" + "    a++;\n" * 38 + "}\n"),
    (house.length_violations, "tests/c/a.c", "static int f(int a)\n{\n" + "    a++;\n" * 38 + "}\n"),
    (house.length_violations, "lgint/a.py", "def f(a):\n" + "    a += 1\n" * 41),
    (house.length_violations, "lgint/a.py", "x = 1\n" * 701),
]


@pytest.mark.parametrize(("check", "path", "text"), VIOLATIONS)
def test_a_violation_is_found(check, path, text, tmp_path):
    write(tmp_path / path, text)
    assert len(check(tmp_path)) == 1


CIRCLES = [
    {  # by functions
        "csrc/model/a.c": '#include "model/a.h"\n#include "model/b.h"\nint lg_a(void)\n{\n    return lg_b();\n}\n',
        "csrc/model/a.h": "int lg_a(void);\n",
        "csrc/model/b.c": '#include "model/b.h"\nint lg_a(void);\nint lg_b(void)\n{\n    return lg_a();\n}\n',
        "csrc/model/b.h": "int lg_b(void);\n",
    },
    {  # by headers
        "csrc/model/a.c": '#include "model/b.h"\n',
        "csrc/model/a.h": "typedef int lg_a;\n",
        "csrc/model/b.h": '#include "model/a.h"\n',
    },
    {  # by a table in the file of what its rows need
        "csrc/model/a.c": '#define LG_ROW(name) &name,\nint *lg_rows[] = {\n#include "model/a.def"\n};\n',
        "csrc/model/a.h": "typedef int lg_a;\n",
        "csrc/model/a.def": "LG_ROW(lg_b)\n",
        "csrc/model/b.c": '#include "model/a.h"\nconst int lg_b = 1;\n',
    },
]


@pytest.mark.parametrize("files", CIRCLES)
def test_a_circle_is_found(files, tmp_path):
    for path, text in files.items():
        write(tmp_path / path, text)
    assert len(house.circle_violations(tmp_path)) == 2


CLEAN = {
    "csrc/sparse/linalg.c": '#include "sparse/linalg.h"\n#include <lapacke.h>\n#include <math.h>\n',
    "csrc/core/a.h": """extern const int lg_count;
typedef int lg_op(int a);
lg_op lg_one, lg_two;
int lg_f(int a);
static inline int lg_g(int a)
{
    return a;
}
""",
    "csrc/core/a.c": """#include "core/a.h"
/* static int count; printf("x") */
static const char *const names[] = {
#define LG_ROW(name) #name,
#include "core/rows.def"
};
typedef struct lg_a {
    int (*call)(int);
} lg_a;
struct lg_b {
    int i;
};
enum { LG_C = 1 };
static int helper(int a);
static int (*const calls[])(int) = {helper};
const int lg_count = sizeof names / sizeof *names;
void lg_each(void (*call)(int a), int n)
{
    call(n);
}
static int helper(int a)
{
    static const double table[] = {1, 2};
    return a + (int)table[0];
}
""",
    "csrc/core/b.c": "#define INLINE static inline\nINLINE int f(int a)\n{\n    return a;\n}\n",
    "csrc/core/rows.def": "LG_ROW(one)\nLG_ROW(two)\n",
    "csrc/model/a.c": '#include "system/system.h"\n#include "group/space.h"\n',
    "csrc/integrator/a.c": '#include "solve/newton.h"\n#include "system/system.h"\n',
    "csrc/bind/a.c": """#include <Python.h>
#include "model/model.h"
static int state;
PyMODINIT_FUNC PyInit__core(void)
{
    return 0;
}
""",
    "lgint/a.py": "from lgint import _core\ndef f(a):\n" + "    a += 1\n" * 40,
    "notebooks/a.ipynb": '"import lgint\\n"',
}


@pytest.mark.parametrize("check", CHECKS)
def test_a_clean_tree_passes(check, tmp_path):
    for path, text in CLEAN.items():
        write(tmp_path / path, text)
    assert check(tmp_path) == []


def test_static_functions_of_many_files_need_names_of_their_own(tmp_path):
    for name in "abcd":
        write(tmp_path / f"csrc/core/{name}.c", "static int reset(int a)\n{\n    return a;\n}\n")
    assert not house.common_name_violations(tmp_path)
    write(tmp_path / "csrc/core/e.c", "static int reset(int a);\nstatic int reset(int a)\n{\n    return a;\n}\n")
    assert len(house.common_name_violations(tmp_path)) == 1


def test_lengths_count_signature_and_braces(tmp_path):
    write(
        tmp_path / "csrc/core/a.c",
        "/* one\n   two */\nint lg_f(int a,\n         int b)\n{\n    return a + b;\n}\n\nint x;\n",
    )
    assert house.functions(tmp_path) == [("csrc/core/a.c", "lg_f", 5)]


def write(path, text):
    """Write a file, and make its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
