"""How fast the machine is, for bounds in processor time that hold on any machine."""

import time

import lgint

STEP = 0.19e-6  # s, the time of a step of rk44 on the free top on the machine on which bounds were set


def least(function, repeat=5):
    """The least processor time of a call, s."""
    taken = []
    for _ in range(repeat):
        begin = time.process_time()
        function()
        taken.append(time.process_time() - begin)
    return min(taken)


def slowness():
    """By what factor this machine is slower at present."""
    model = lgint.models.heavy_top(constrained=False)
    return least(lambda: lgint.integrate(model, "rk44", t_end=0.2, h=1e-5, save_every=20_000)) / 20_000 / STEP
