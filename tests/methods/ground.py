"""Systems whose Newton iteration fails at steps that are otherwise short enough: feet on the ground, stick and slip."""

import numpy as np

import lgint

STIFFNESS, DAMPING, FRICTION, SLIDING = 2e5, 0.5, 0.8, 1e-3  # N/m, s/m, 1, m/s


def grip(w):
    """tanh(w/w_s)/w and its derivative over w; the latter stands beside w^2 and may be zero for small w."""
    if w < 1e-6 * SLIDING:
        return 1 / SLIDING, 0.0
    turn = np.tanh(w / SLIDING)
    return turn / w, ((1 - turn**2) / SLIDING - turn / w) / w**2


def foot(t, x, R, xdot, omega):
    """Ground z = 0: Hunt and Crossley's force k d (1 + c d'), with d the depth, and friction mu N tanh(w/w_s)."""
    wrench = np.zeros(6)
    if x[2] < 0:
        normal = STIFFNESS * -x[2] * max(0.0, 1 - DAMPING * xdot[2])
        share = FRICTION * grip(np.hypot(xdot[0], xdot[1]))[0]
        wrench[:3] = -share * normal * xdot[0], -share * normal * xdot[1], normal
    return wrench


def foot_tangent(t, x, R, xdot, omega):
    """The derivatives of `foot` by (x, phi) and by (xdot, omega)."""
    K, D = np.zeros((6, 6)), np.zeros((6, 6))
    hardening = 1 - DAMPING * xdot[2]
    if x[2] < 0 and hardening > 0:
        normal, slip = STIFFNESS * -x[2] * hardening, xdot[:2]
        share, bend = grip(np.hypot(*slip))
        direction = np.append(-FRICTION * share * slip, 1.0)
        K[:3, 2] = -STIFFNESS * hardening * direction
        D[:3, 2] = STIFFNESS * x[2] * DAMPING * direction
        D[:2, :2] = -FRICTION * normal * (share * np.eye(2) + bend * np.outer(slip, slip))
    return K, D


def quadruped(height=0.02, speed=0.5):
    """A trunk of 12 kg on four legs of two links, held by springs and dampers in hips and knees, thrown on the ground.

    Trunk 0.4 m x 0.2 m x 0.1 m; thighs of 0.8 kg and shanks of 0.3 kg, 0.2 m long and as slender rods of radius 0.02 m,
    turned by 0.6 rad forward and backward from the vertical; 120 N m/rad and 2 N m s/rad in each of the eight joints.
    All bodies move with `speed` along x, and the feet are `height` above the ground.
    """
    b = lgint.ModelBuilder(gravity=(0, 0, -9.81), formulation="R3xSO3")
    length, turn, y = 0.2, 0.6, np.array([0.0, 1.0, 0.0])
    hip_height = height + 2 * length * np.cos(turn)
    velocity = (speed, 0, 0)

    def box(m, a, b, c):
        return m / 12 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])

    b.add_body("trunk", mass=12.0, inertia=box(12.0, 0.4, 0.2, 0.1), position=(0, 0, hip_height), velocity=velocity)
    for leg, (side, front) in enumerate(((1, 1), (-1, 1), (1, -1), (-1, -1))):
        top = np.array([0.2 * front, 0.1 * side, hip_height])
        for part, mass, angle, parent in (("thigh", 0.8, turn, "trunk"), ("shank", 0.3, -turn, f"thigh{leg}")):
            down = np.array([-np.sin(angle), 0.0, -np.cos(angle)])
            rotation = lgint.groups.so3.exp(angle * y)
            thick = mass * 0.02**2
            inertia = (mass * length**2 / 12 + thick / 4, mass * length**2 / 12 + thick / 4, thick / 2)
            name = f"{part}{leg}"
            b.add_body(
                name,
                mass=mass,
                inertia=inertia,
                position=top + 0.5 * length * down,
                rotation=rotation,
                velocity=velocity,
            )
            joint = b.add_joint("revolute", parent, name, point=top, axis=y)
            b.add_joint_drive(joint, stiffness=120.0, damping=2.0)
            top = top + length * down
        b.add_force_law(foot, bodies=name, point=top, tangent=foot_tangent)
    return b.build()


BELT, SPRING, SLIP_SPEED = 0.1, 100.0, 1e-4  # m/s, N/m, m/s


def stick_slip():
    """1 kg on a belt of 0.1 m/s, held by 100 N/m, with friction that falls from 4.9 N to 60 % of it with the speed."""

    def force(t, q, v):
        w = v - BELT
        return -SPRING * q - 4.905 * np.tanh(w / SLIP_SPEED) * (0.6 + 0.4 * np.exp(-np.abs(w) / 0.1))

    return lgint.CallableModel("Rn", [0.0], [0.0], mass=lambda t, q: np.eye(1), force=force)
