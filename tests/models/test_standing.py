"""A quadruped that stands on four feet: where it rests, and what a step costs beside one of MuJoCo."""

import time

import numpy as np
import pytest

import lgint

LEGS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
HEIGHT, STIFFNESS, DAMPING = 0.4, 100.0, 3.0
LINKS = (("hip", 0.6, (5e-4, 5e-4, 5e-4)), ("thigh", 0.9, (4e-3, 4e-3, 6e-4)), ("shank", 0.2, (6e-4, 6e-4, 3e-5)))


def quadruped():
    """A trunk with four legs of three joints each, whose feet are spheres that just touch the ground."""
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="minimal")
    top = np.array([0, 0, HEIGHT])
    b.add_body("trunk", mass=6.0, inertia=(0.03, 0.1, 0.11), position=top)
    b.add_joint("free", lgint.ground, "trunk", point=top)
    for i, (sx, sy) in enumerate(LEGS):
        joints = np.cumsum([top + (0.2 * sx, 0.08 * sy, 0), (0, 0.05 * sy, 0), (0, 0, -0.2), (0, 0, -0.18)], axis=0)
        before = "trunk"
        for (part, mass, inertia), upper, lower in zip(LINKS, joints, joints[1:], strict=False):
            name = f"{part}{i}"
            b.add_body(name, mass=mass, inertia=inertia, position=(upper + lower) / 2)
            axis = (1, 0, 0) if part == "hip" else (0, 1, 0)
            b.add_joint("revolute", before, name, point=upper, axis=axis, name=f"{name}.joint")
            b.add_joint_drive(f"{name}.joint", stiffness=STIFFNESS, damping=DAMPING)
            before = name
        shapes = [("sphere", (0, 0, -0.09), 0.02), ("plane", (0, 0, 0), (0, 0, 1))]
        law = {"stiffness": 2e4, "damping": 50.0, "friction": 0.8, "regularization": 1e-2}
        b.add_contact(f"shank{i}", lgint.ground, shapes=shapes, name=f"foot{i}", **law)
    return b.build()


def by_mujoco(mujoco):
    def leg(i, sx, sy):
        places, centers = (f"{0.2 * sx} {0.08 * sy} 0", f"0 {0.05 * sy} 0", "0 0 -.2"), (f"0 {0.025 * sy} 0",)
        centers += ("0 0 -.1", "0 0 -.09")
        text = '<geom type="sphere" size=".02" pos="0 0 -.18"/>'
        for place, center, (part, mass, inertia) in [*zip(places, centers, LINKS, strict=True)][::-1]:
            axis = "1 0 0" if part == "hip" else "0 1 0"
            joint = f'<joint axis="{axis}" stiffness="{STIFFNESS}" damping="{DAMPING}"/>'
            size = f'mass="{mass}" diaginertia="{" ".join(map(str, inertia))}"'
            text = f'<body pos="{place}">{joint}<inertial pos="{center}" {size}/>{text}</body>'
        return text

    legs = "".join(leg(i, *where) for i, where in enumerate(LEGS))
    trunk = '<freejoint/><inertial pos="0 0 0" mass="6" diaginertia=".03 .1 .11"/>'
    options = '<option timestep="1e-3" integrator="implicitfast"/>'
    world = f'<geom type="plane" size="5 5 1"/><body pos="0 0 {HEIGHT}">{trunk}{legs}</body>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{options}<worldbody>{world}</worldbody></mujoco>")


def test_it_rests_at_the_height_of_a_fine_run():
    model = quadruped()
    coarse, fine = (lgint.integrate(model, "genalpha", t_end=1.0, h=h) for h in (1e-3, 1e-4))
    heights = [run.position("trunk")[-1, 2] for run in (coarse, fine)]
    assert heights[0] == pytest.approx(heights[1], abs=1e-5) and 0.39 < heights[0] < HEIGHT
    forces = sum(coarse.force(f"foot{i}", on=f"shank{i}").force[-1] for i in range(4))
    np.testing.assert_allclose(forces, (0, 0, 12.8 * 9.81), atol=0.05)


@pytest.mark.measures
def test_a_step_takes_at_most_1_7_times_that_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    theirs, ours = by_mujoco(mujoco), quadruped()
    assert mujoco.mj_getTotalmass(theirs) == pytest.approx(12.8)
    data, ratios = mujoco.MjData(theirs), []
    for _ in range(5):
        mujoco.mj_resetData(theirs, data)
        begin = time.process_time()
        for _ in range(1000):
            mujoco.mj_step(theirs, data)
        middle = time.process_time()
        lgint.integrate(ours, "genalpha", t_end=1.0, h=1e-3)
        ratios.append((time.process_time() - middle) / (middle - begin))
    assert data.ncon == 4 and 0.39 < data.qpos[2] < HEIGHT
    assert min(ratios) < 1.7
