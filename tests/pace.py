"""How fast the machine is, for bounds in processor time that hold on any machine."""

import time

import lgint

STEP = 0.19e-6  # s, the time of a step of rk44 on the free top on the machine on which bounds were set


def least(function, repeat=5):
    """The least processor time of a call, s."""
    return in_turn(function, repeat=repeat)[0]


def in_turn(*functions, repeat=20):
    """The least processor time of each call, s; they are made in turn, so that a disturbance affects all of them."""
    best = [float("inf")] * len(functions)
    for _ in range(repeat):
        for i, function in enumerate(functions):
            begin = time.process_time()
            function()
            best[i] = min(best[i], time.process_time() - begin)
    return best


def slowness():
    """By what factor this machine is slower at present."""
    model = lgint.models.heavy_top(constrained=False)
    return least(lambda: lgint.integrate(model, "rk44", t_end=0.2, h=1e-5, save_every=20_000)) / 20_000 / STEP
