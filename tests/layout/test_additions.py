"""A row of each kind is added to a copy of the tree; names, tables, option checks and tests follow by themselves."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# ---- what an author adds: CONTRIBUTING.md, "Adding things" ----

FILES = {
    "csrc/model/force/gust.c": """
/* A force that opposes the velocity of a point: f = -c xdot. */
#include "model/force/force.h"

static const lg_parameter parameters[] = {{"drag", "N s/m", "drag of the point", 1}};

static lg_status wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear, lg_load *out)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    (void)at;
    lg_zero(6, out->w[0]);
    lg_axpy(3, -e->p[0], f[0]->xdot, out->w[0]);
    if (linear)
        lg_quarters_add(&out->D[0][0], LG_XX, -e->p[0], I);
    return LG_OK;
}

const lg_force_type lg_gust = {
    .info = {.family = "force",
             .name = "gust",
             .doc = "A force against the velocity of a point.",
             .reference = "docs/models",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 1},
    .needs_twists = 1,
    .wrenches = wrenches,
};
""",
    "csrc/model/joint/strut.c": """
/* Two points at a fixed distance, by its square: phi = (d.d - L^2)/2, d = x_b - x_a; J_b = d^T, J_a = -d^T. */
#include "model/joint/joint.h"

static const lg_parameter parameters[] = {{"length", "m", "distance of the two points", 1}};

static lg_status rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                      unsigned want, lg_rows *out)
{
    double d[3], rate[3], K[9] = {0};
    (void)at;
    for (int i = 0; i < 3; i++) {
        d[i] = f[1]->x[i] - f[0]->x[i];
        rate[i] = want & (LG_ROWS_RATE | LG_ROWS_Z) ? f[1]->xdot[i] - f[0]->xdot[i] : 0;
    }
    out->points = 1;
    out->phi[0] = (lg_dot3(d, d) - e->p[0] * e->p[0]) / 2;
    out->Jdot[0] = lg_dot3(rate, rate);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 3; i++) {
            out->J[s][i] = s ? d[i] : -d[i];
            out->Z[s][i] = s ? rate[i] : -rate[i];
            out->J[s][3 + i] = out->Z[s][3 + i] = 0;
        }
    if (!(want & LG_ROWS_K))
        return LG_OK;
    K[0] = K[4] = K[8] = lam[0];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            lg_quarters_add(&out->K[i][j], LG_XX, i == j ? 1 : -1, K);
    return LG_OK;
}

const lg_joint_type lg_strut = {
    .info = {.family = "joint",
             .name = "strut",
             .doc = "Two points at a fixed distance, by its square.",
             .reference = "docs/models",
             .nframes = 2,
             .nrows = 1,
             .parameters = parameters,
             .nparameters = 1},
    .couples = lg_element_between,
    .on_point = lg_element_on_point,
    .rows = rows,
};
""",
    "csrc/model/body/bead.c": """
/* A bead on a wire along the inertial x axis: x = (q, 0, 0). */
#include "model/body/body.h"

static const lg_parameter parameters[] = {{"mass", "kg", "mass", 1}};

static lg_status check(const lg_body *b, const char **reason)
{
    *reason = "a bead needs a block of kind Rn with one coordinate";
    return b->block->node->nv == 0 && b->block->n == 1 ? LG_OK : LG_BAD_ARGUMENT;
}

static void kinematics(lg_span bodies, const lg_point *at, lg_level level, int all)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3];
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        for (int i = 0; i < (all ? b->nframes : level == LG_NO_POSES ? 0 : b->nactive); i++) {
            lg_pose *pose = lg_pose_of(b->frames + i, at);
            lg_zero(3, pose->x);
            lg_zero(3, pose->xdot);
            lg_zero(3, pose->xdd);
            pose->x[0] = at->q[b->block->q];
            pose->xdot[0] = level >= LG_TWISTS ? at->v[b->block->v] : 0;
            pose->R = identity;
            pose->omega = pose->omegadot = zero;
            lg_pose_clear(b->frames + i, pose);
        }
}

static void inertia(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    static const double one = 1;
    for (const lg_body *b = bodies.first; b < bodies.end; b++) {
        int v = b->block->v;
        if (want->Ma)
            want->Ma[v] = b->e.p[0] * at->a[v];
        if (want->gyro)
            want->gyro[v] = 0;
        for (const lg_tangent *to = want->tangent; to < want->tangent + want->ntangents; to++) {
            int ld;
            double *S = lg_body_tangent(b, to, &ld);
            lg_chain_add(b->block, lg_chain_of(to, b->index), 2, at->wa * b->e.p[0], 0, 1, 0, 1, &one, 1, S, ld);
        }
    }
}

static void gather(lg_span bodies, const lg_point *at, const lg_wanted *want)
{
    double *out[] = {[LG_FORCES] = want->force, [LG_REACTIONS] = want->Btlam};
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        for (int sum = 0; sum < 2; sum++) {
            if (!out[sum])
                continue;
            out[sum][b->block->v] = 0;
            for (const lg_frame *f = b->frames; f < b->frames + b->nactive; f++)
                if (f->pressed >> sum & 1)
                    out[sum][b->block->v] += lg_pose_of(f, at)->wrench[sum][0];
        }
}

static double kinetic(const lg_body *b, const lg_point *at)
{
    return b->e.p[0] * at->v[b->block->v] * at->v[b->block->v] / 2;
}

static void pull(const lg_frame *f, const lg_point *at, double s, const double wrench[6], double *out)
{
    (void)f, (void)at;
    out[0] += s * wrench[0];
}

static void pull_rate(const lg_frame *f, const lg_point *at, const double wrench[6], double *row)
{
    (void)f, (void)at, (void)wrench, (void)row;
}

static void dense_H(const lg_frame *f, const lg_point *at, double *H)
{
    (void)f, (void)at;
    lg_zero(6, H);
    H[0] = 1;
}

static void dense_Z(const lg_frame *f, const lg_point *at, double *Z)
{
    (void)f, (void)at;
    lg_zero(6, Z);
}

static const lg_body_frames frames = {.pull = pull, .pull_rate = pull_rate, .H = dense_H, .Z = dense_Z};

const lg_body_type lg_bead = {
    .info = {.family = "body",
             .name = "bead",
             .doc = "A point mass on a line.",
             .reference = "docs/models",
             .nframes = 1,
             .parameters = parameters,
             .nparameters = 1},
    .constant_mass = 1,
    .is_point = 1,
    .check = check,
    .kinematics = kinematics,
    .inertia = inertia,
    .gather = gather,
    .kinetic = kinetic,
    .frames = &frames,
};
""",
    "csrc/integrator/ballistic.c": """
/* Constant acceleration in a step: v_1 = v_0 + h a_0, q_1 = q_0 exp(h v_0 + h^2 a_0/2), of order one. */
#include "core/small.h"
#include "integrator/stepper.h"

typedef struct stepper {
    lg_stepper base;
    double *q, *v, *a, *lam, *theta;
} stepper;

const lg_option_rows lg_ballistic_rows = {NULL, 0, 0};

static lg_status prepare(lg_stepper *self)
{
    (void)self;
    return LG_OK;
}

static void layout(lg_stepper *self, lg_arena *arena)
{
    stepper *s = (stepper *)self;
    size_t nv = (size_t)self->system->space->nv;
    s->q = lg_arena_doubles(arena, (size_t)self->system->space->nq);
    s->v = lg_arena_doubles(arena, nv);
    s->a = lg_arena_doubles(arena, nv);
    s->theta = lg_arena_doubles(arena, nv);
    s->lam = lg_arena_doubles(arena, (size_t)self->system->pattern->nrows);
}

static lg_status step(lg_stepper *self, lg_state *state, double h)
{
    stepper *s = (stepper *)self;
    for (int i = 0; i < self->system->space->nv; i++) {
        s->v[i] = state->v[i] + h * state->a[i];
        s->theta[i] = h * (state->v[i] + s->v[i]) / 2;
    }
    lg_space_retract(self->system->space, state->q, s->theta, s->q);
    lg_point end = lg_point_at(state->t + h, s->q, s->v);
    end.t_in = state->t + h / 2, end.mem = state->mem;
    LG_TRY(lg_accel_solve(&self->accel, &end, s->a, s->lam, &self->report));
    return lg_stepper_accept(self, state, h, NULL, s->q, s->v, s->a, s->lam);
}

const lg_stepper_type lg_ballistic = {
    .name = "ballistic", .size = sizeof(stepper), .prepare = prepare, .layout = layout, .step = step};
""",
    "lgint/models/_falling_box.py": '''
"""A box that falls."""

from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("holzinger2024")
def falling_box(formulation: str = "R3xSO3", mass: float = 2.0) -> Model:
    """A box under gravity."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81), formulation=formulation)
    builder.add_body("box", mass=mass, inertia=(1.0, 2.0, 2.5), angular_velocity=(0.3, 0.2, 0.1))
    return builder.build()
''',
}
LINES = {
    "csrc/model/joint/joints.def": """
LG_JOINT(lg_parallel, "parallel", "", "1323", 1, "The bodies turn about axes that stay parallel.")
LG_JOINT(lg_slotted, "slotted", "23", "1323", 1, "The bodies turn about e3, whose points slide along e1.")
LG_CONSTRAINT(lg_strut)
""",
    "csrc/model/force/forces.def": "LG_FORCE(lg_gust)\n",
    "csrc/model/body/bodies.def": "LG_BODY(lg_bead)\n",
    "csrc/integrator/tableau.c": """
const lg_tableau lg_tableau_ralston = {
    .stages = 2,
    .c = {Z, Q(2, 3)},
    .A = {{Z}, {Q(2, 3)}},
    .b = {Q(1, 4), Q(3, 4)},
};
""",
    "csrc/integrator/methods.def": """
LG_RUNGE_KUTTA("ralston", lg_rkmk, lg_tableau_ralston, 2, lg_explicit_rows, "Ralston (1962)",
          "Ralston's method of order two")
LG_METHOD("ballistic", lg_ballistic, 1, lg_ballistic_rows, "Galilei (1638)", "Constant acceleration in each step")
""",
    "csrc/group/direct.c": """
const lg_node lg_twin = DIRECT("twin", "tumiotto2024, Sect. 2.3", 7, s3, LG_STORAGE_QUATERNION, s3_polish);
""",
    "csrc/group/groups.def": 'LG_NODE(lg_twin, "twin")\n',
    "lgint/models/__init__.py": "from lgint.models._falling_box import falling_box as falling_box\n",
}
# ---- what has to follow without further changes ----

BATTERIES = {  # tests that must have run with each addition
    "tests/models/test_joints.py": ("test_translations[parallel]", "test_rotations[slotted]"),
    "tests/models/test_check.py": ("test_joints_springs_and_loads[R3xSO3-SE3-slotted]", "falling_box"),
    "tests/elements/test_elements.py": (
        "twin+twin-parallel-1",
        "SE3+euler_parameters-slotted-2",
        "gust",
        "twin+twin-strut",
        "bead-('Rn', 1)",
        "('twin', 0)",
    ),
    "tests/methods/test_tableaux.py": ("test_order[ralston]",),
    "tests/methods/test_orders.py": ("test_explicit[ralston-SE3-free]", "test_explicit[ralston-twin-constrained]"),
    "tests/bindings/test_rows.py": (
        "test_the_default_of_an_option_is_accepted[ralston]",
        "test_the_default_of_an_option_is_accepted[ballistic]",
    ),
    "tests/elements/test_pairs.py": ("test_discrete_gradients_of_rows[slotted",),
    "tests/face/test_integrate.py": ("compiled_one[ballistic]", "compiled_one[ralston]"),
    "tests/models/test_lagrangian.py": ("mass_spring-{}-ballistic", "mass_spring-{}-ralston"),
    "tests/layout/test_build.py": ("test_the_tables_of_the_docs_name_every_row",),
}


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A copy of the tree with all additions, which is built once."""
    root = tmp_path_factory.mktemp("grown")
    for name in ("benchmarks", "csrc", "lgint", "tests", "docs"):
        ignored = shutil.ignore_patterns("*.so", "__pycache__", "html")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    for name, text in FILES.items():
        (root / name).write_text(text.lstrip())
    for name, text in LINES.items():
        with (root / name).open("a") as file:
            file.write(text)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    built = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert "warning" not in built.stderr
    return root


def in_tree(root, *command):
    """Run Python in the grown tree."""
    environment = os.environ | {"PYTHONPATH": str(root)}
    return subprocess.run([sys.executable, *command], cwd=root, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("file", BATTERIES)
def test_batteries_try_what_was_added(file, grown):
    """Every test of the file that names an addition passes, and those listed above are among them."""
    added = "parallel or slotted or gust or ralston or strut or bead or ballistic or twin or falling or docs"
    run = in_tree(grown, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-rA", file, "-k", added)
    assert run.returncode == 0, run.stdout[-3000:]
    passed = re.findall(r"^PASSED (.*)$", run.stdout, re.MULTILINE)
    for name in BATTERIES[file]:
        assert any(name in test for test in passed), (name, passed[:10])


def test_names_and_checks_follow(grown):
    code = """
import lgint
builder = lgint.ModelBuilder(formulation="twin")
for name in "ab":
    builder.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(name == "b", 0, 0))
builder.add_joint("slotted", "a", "b", point=(1, 0, 0), axis=(1, 0, 0), second_axis=(0, 1, 0), angle=0.3, name="j")
run = lgint.integrate(builder.build(), "ralston", t_end=0.1, h=0.01)
assert abs(run.joint_angle("j")[-1] - 0.3) < 1e-12
assert lgint.integrate(run.model, "ballistic", t_end=0.1, h=0.01).stats.newton_iterations == 0
assert lgint.method_info("ralston")["order"] == 2 and "ralston" in lgint.methods()
assert "falling_box" in lgint.models.names() and lgint.models.falling_box().reference == "holzinger2024"
try:
    lgint.integrate(run.model, "ralston", t_end=0.1, h=0.01, rho_inf=1)
except ValueError as error:
    print(error)
try:
    builder.add_joint("paralel", "a", "b", point=(0, 0, 0))
except ValueError as error:
    print(error)
"""
    run = in_tree(grown, "-c", code)
    assert run.returncode == 0, run.stderr
    assert "'ralston' has no option 'rho_inf'" in run.stdout
    assert "'parallel'" in run.stdout
