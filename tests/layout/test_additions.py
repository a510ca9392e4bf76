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

static const lg_parameter parameters[] = {{"drag", "N s/m", "drag of the point", LG_SCALAR, .valid = LG_NONNEGATIVE}};

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
    "csrc/model/force/mount.c": """
/* An elastic bearing in axes A of the first body: c = R_a^T d, d = x_b - x_a, y = c' = R_a^T d' - w x c, and

       g = K' (c - c0) + C' y,  K' = A K A^T,  C' = A C A^T;  force -R_a g on x_b, R_a g on x_a, moment c x g on phi_a.

   dc = R_a^T dd + c^ dphi, dy = R_a^T dd' - w^ R_a^T dd + (z^ - w^ c^) dphi + c^ dw with z = R_a^T d'. */
#include "model/force/force.h"

enum { AXES, STIFFNESS = 9, DAMPING = 18, OFFSET = 27 };

static const lg_parameter parameters[] = {
    LG_TRIAD("axes_a", LG_FIRST_AXES, "axes of the bearing, as columns"),
    {"stiffness", "N/m", "stiffness in these axes", LG_MATRIX(3, 3), .valid = LG_SEMIDEFINITE},
    {"damping", "N s/m", "damping in these axes", LG_MATRIX(3, 3), .valid = LG_SEMIDEFINITE, .initially = LG_ZERO},
    {"offset", "m", "c without force", LG_VECTOR(3), .axes = LG_FIRST_AXES, .initially = LG_START_SEPARATION},
};

typedef struct state {
    double K[9], C[9], Rt[9], c[9], g[9]; /* K', C', R_a^T, c^, g^ */
    double at[3], force[3];
} state;

static void in_body(const double *A, const double *M, double out[9])
{
    double At[9], MAt[9];
    lg_transpose3(A, At);
    lg_mul33(M, At, MAt);
    lg_mul33(A, MAt, out);
}

static void open(const lg_element *e, const lg_pose *const f[2], state *s, double z[3])
{
    double d[3], ddot[3], y[3], stretch[3], damping[3];
    in_body(e->p + AXES, e->p + STIFFNESS, s->K);
    in_body(e->p + AXES, e->p + DAMPING, s->C);
    lg_transpose3(f[0]->R, s->Rt);
    lg_pose_between(f[0], f[1], d);
    for (int i = 0; i < 3; i++)
        ddot[i] = f[1]->xdot[i] - f[0]->xdot[i];
    lg_mul3(s->Rt, d, s->at);
    lg_mul3(s->Rt, ddot, z);
    lg_cross(s->at, f[0]->omega, y);
    lg_axpy(3, 1, z, y);
    lg_copy(3, s->at, stretch);
    lg_axpy(3, -1, e->p + OFFSET, stretch);
    lg_mul3(s->K, stretch, s->force);
    lg_mul3(s->C, y, damping);
    lg_axpy(3, 1, damping, s->force);
    lg_hat3(s->at, s->c);
    lg_hat3(s->force, s->g);
}

/* Quarters for dg = G dd + P dphi: force -R g on b, its opposite and the moment c x g on a; `turned`: what else turns
   the force and the moment, or NULL. */
static void spread(const state *s, const double *R, const double G[9], const double P[9], int turned,
                   lg_quarters out[2][2])
{
    double RG[9], RP[9], cG[9], cP[9], more[9];
    lg_mul33(R, G, RG), lg_mul33(R, P, RP), lg_mul33(s->c, G, cG), lg_mul33(s->c, P, cP);
    if (turned) {
        lg_mul33(R, s->g, more), lg_axpy(9, -1, more, RP);
        lg_mul33(s->g, s->Rt, more), lg_axpy(9, -1, more, cG);
        lg_mul33(s->g, s->c, more), lg_axpy(9, -1, more, cP);
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            lg_quarters_add(&out[i][j], LG_XX, i == j ? -1 : 1, RG);
        lg_quarters_add(&out[i][0], LG_XR, i ? -1 : 1, RP);
        lg_quarters_add(&out[0][i], LG_RX, i ? 1 : -1, cG);
    }
    lg_quarters_add(&out[0][0], LG_RR, 1, cP);
}

static lg_status wrenches(const lg_element *e, const lg_pose *const f[2], const lg_point *at, int linear, lg_load *out)
{
    state s;
    double z[3], w[9], G[9], P[9], turn[9], CR[9];
    (void)at;
    open(e, f, &s, z);
    lg_zero(12, out->w[0]);
    lg_mul3(f[0]->R, s.force, out->w[0]);
    lg_axpy(3, -1, out->w[0], out->w[1]);
    lg_cross(s.at, s.force, out->w[0] + 3);
    if (!linear)
        return LG_OK;

    lg_hat3(f[0]->omega, w);
    lg_mul33(s.C, w, turn);
    for (int i = 0; i < 9; i++)
        turn[i] = s.K[i] - turn[i]; /* K' - C' w^ */
    lg_mul33(turn, s.Rt, G);
    lg_mul33(turn, s.c, P);
    lg_hat3(z, w);
    lg_mul33(s.C, w, turn);
    lg_axpy(9, 1, turn, P);
    spread(&s, f[0]->R, G, P, 1, out->K);
    lg_mul33(s.C, s.Rt, CR);
    lg_mul33(s.C, s.c, P);
    spread(&s, f[0]->R, CR, P, 0, out->D);
    return LG_OK;
}

static double potential(const lg_element *e, const lg_pose *const f[2], const lg_point *at)
{
    state s;
    double z[3], force[3];
    (void)at;
    open(e, f, &s, z);
    lg_axpy(3, -1, e->p + OFFSET, s.at);
    lg_mul3(s.K, s.at, force);
    return lg_dot3(s.at, force) / 2;
}

const lg_force_type lg_mount = {
    .info = {.family = "force",
             .name = "mount",
             .doc = "Springs and dampers between two points along axes of the first body.",
             .reference = "docs/models",
             .nframes = 2,
             .parameters = parameters,
             .nparameters = 4},
    .sees = LG_SEES_POSE,
    .needs_twists = 1,
    .couples = lg_element_between,
    .wrenches = wrenches,
    .potential = potential,
};
""",
    "csrc/model/joint/strut.c": """
/* Two points at a fixed distance, by its square: phi = (d.d - L^2)/2, d = x_b - x_a; J_b = d^T, J_a = -d^T. */
#include "model/joint/joint.h"

static const lg_parameter parameters[] = {
    {"length", "m", "distance of the two points", LG_SCALAR, .valid = LG_POSITIVE, .initially = LG_START_DISTANCE},
};

static lg_status rows(const lg_element *e, const lg_pose *const f[2], const lg_point *at, const double *lam,
                      unsigned want, lg_rows *out)
{
    double d[3], rate[3], K[9] = {0};
    (void)at;
    lg_pose_between(f[0], f[1], d);
    for (int i = 0; i < 3; i++)
        rate[i] = want & (LG_ROWS_RATE | LG_ROWS_Z) ? f[1]->xdot[i] - f[0]->xdot[i] : 0;
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

static void jets(const lg_element *e, const lg_frame_jet f[2], lg_wrench_jet (*out)[2])
{
    const lg_jet d = lg_jet_between(&f[0].x, &f[1].x);
    (void)e;
    lg_jet_push(&d, *out);
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
    .on_point = lg_element_on_point,
    .rows = rows,
    .jets = jets,
};
""",
    "csrc/model/body/bead.c": """
/* A bead on a wire along the inertial x axis: x = (q, 0, 0). */
#include "model/body/body.h"

static const lg_parameter parameters[] = {{"mass", "kg", "mass", LG_SCALAR, .valid = LG_POSITIVE}};

static lg_status check(const lg_body *b, const char **reason)
{
    *reason = "a bead needs a block of kind Rn with one coordinate";
    return b->block->node->nv == 0 && b->block->nv == 1 ? LG_OK : LG_BAD_ARGUMENT;
}

static lg_status kinematics(lg_span bodies, const lg_point *at, lg_level level, lg_reach reach)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3];
    for (const lg_body *b = bodies.first; b < bodies.end; b++)
        for (int i = 0; i < lg_body_reach(b, level, reach); i++) {
            lg_pose *pose = lg_pose_of(b->frames + i, at);
            lg_zero(3, pose->arm);
            lg_zero(3, pose->xdot);
            lg_zero(3, pose->xdd);
            pose->arm[0] = at->q[b->block->q];
            pose->xdot[0] = level >= LG_TWISTS ? at->v[b->block->v] : 0;
            pose->R = identity;
            pose->origin = pose->omega = pose->omegadot = zero;
            lg_pose_clear(b->frames + i, pose);
        }
    return LG_OK;
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
                if (f->loaded >> sum & 1)
                    out[sum][b->block->v] += lg_pose_of(f, at)->wrench[sum][0];
        }
}

static void energy(const lg_body *b, const lg_point *at, double *T, double *V)
{
    (void)V;
    *T += b->e.p[0] * at->v[b->block->v] * at->v[b->block->v] / 2;
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
    .energy = energy,
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
    end.t_in = state->t + h / 2, end.mem.values = state->mem;
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
    "csrc/model/force/forces.def": "LG_FORCE(lg_gust)\nLG_FORCE(lg_mount)\n",
    "csrc/model/body/bodies.def": "LG_BODY(lg_bead)\n",
    "csrc/integrator/tableau.c": """
const lg_tableau lg_tableau_ralston = {
    .stages = 2,
    .c = {Z, Q(2, 3)},
    .A = ROWS(2) {{Z}, {Q(2, 3)}},
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
        "mount",
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
    "tests/models/test_declared.py": (
        "test_check[mount-tait_bryan-R3xRV]",
        "test_check[strut-R3xSO3-SE3]",
        "test_check[gust-R3xSO3-SE3]",
        "test_values_and_units[mount]",
        "test_files_and_pictures[mount]",
        "test_bad_arguments[mount]",
    ),
    "tests/elements/test_pairs.py": ("test_discrete_gradients_of_rows[slotted",),
    "tests/face/test_integrate.py": ("compiled_one[ballistic]", "compiled_one[ralston]"),
    "tests/models/test_lagrangian.py": ("mass_spring-{}-ballistic", "mass_spring-{}-ralston"),
    "tests/layout/test_build.py": ("test_the_tables_of_the_docs_name_every_row",),
}


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A copy of the tree with all additions, which is built once; what is built already is built again where needed."""
    root = tmp_path_factory.mktemp("grown")
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "html")
    for name in ("benchmarks", "csrc", "lgint", "tests", "docs", "notebooks"):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for objects in ROOT.glob("build/temp.*"):
        shutil.copytree(objects, root / "build" / objects.name)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, root)
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
    added = "parallel or slotted or gust or mount or ralston or strut or bead or ballistic or twin or falling or docs"
    left_out = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:nbmake")
    run = in_tree(grown, "-m", "pytest", *left_out, "-q", "-rA", file, "-k", added)
    assert run.returncode == 0, run.stdout[-3000:]
    passed = re.findall(r"^PASSED (.*)$", run.stdout, re.MULTILINE)
    for name in BATTERIES[file]:
        assert any(name in test for test in passed), (name, passed[:10])


def test_an_element_needs_its_file_and_its_row(grown):
    """The builder, values, units, files, pictures and docs have a mount once its row is there."""
    code = """
import sys
sys.path.insert(0, "docs")
import generate, numpy as np, lgint
from lgint._run import scene
b = lgint.ModelBuilder()
for name, formulation in (("a", "tait_bryan"), ("b", "SE3")):
    reference = {"reference": (0.8, 0, 0.36, 0.48)} if name == "a" else {}
    b.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(name == "b", 0, 0), formulation=formulation, **reference)
assert b.add_element("mount", "a", "b", stiffness=(4.0, 5.0, 6.0), damping=0.3, offset=(0.5, 0.2, 0)) == "a-b.mount"
model = b.build()
assert model.unit("a-b.mount.stiffness") == "N/m" and model.values["a-b.mount.axes_a"] == np.eye(3).tolist()
run = lgint.integrate(model, "genalpha", t_end=0.5, h=1e-3)
assert np.abs(run.position("b")[-1] - (1, 0, 0)).max() > 0.1 and np.abs(run.momentum()[-1]).max() < 1e-9
stiffer = model.with_parameters(**{"a-b.mount.stiffness": 9.0})
assert stiffer.record()["forces"]["a-b.mount"]["stiffness"] == np.diag([9.0, 9.0, 9.0]).tolist()
run.save("run.npz")
assert lgint.load("run.npz").model.record() == model.record()
assert lgint.check(model).ok and len([*scene.springs(model, scene.frames(run, 2))]) == 1
assert "## mount" in generate.fragments(set())["elements"]
for wrong in ({"stiffness": -1.0}, {"stiffness": 1.0, "dampnig": 2.0}, {}):
    try:
        b.add_element("mount", "a", "b", **wrong)
    except ValueError as error:
        print(error)
"""
    run = in_tree(grown, "-c", code)
    assert run.returncode == 0, run.stderr
    assert "stiffness of 'a-b.mount2': a symmetric matrix without negative eigenvalues expected" in run.stdout
    assert "did you mean 'damping'" in run.stdout and "needs stiffness: stiffness in these axes" in run.stdout


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
