"""Long chains: their cost with every method, and no factorisation that falls back to the dense one."""

import numpy as np
import pytest

import lgint
from kinds import BODIES


@pytest.mark.parametrize("method", BODIES)
@pytest.mark.parametrize("constrained", [True, False])
def test_euler_parameters_never_need_the_dense_factorisation(method, constrained):
    top = lgint.models.heavy_top(formulation="euler_parameters", constrained=constrained)
    options = {"newton": "full"} if "newton" in {o["name"] for o in lgint.method_info(method)["options"]} else {}
    run = lgint.integrate(top, method, t_end=0.01, h=1e-4, **options)
    assert run.stats.factorisations > 50
    assert run.stats.dense_fallbacks == 0


@pytest.mark.parametrize("formulation", ["R3xSO3", "R3xRV", "SE3", "S3R3"])
def test_explicit_methods_form_no_matrix_for_free_bodies_on_groups(formulation):
    run = lgint.integrate(
        lgint.models.heavy_top(formulation=formulation, constrained=False), "rk44", t_end=0.01, h=1e-3
    )
    assert run.stats.factorisations == 0
    euler = lgint.models.heavy_top(formulation="euler_parameters", constrained=False)
    assert lgint.integrate(euler, "rk44", t_end=0.01, h=1e-3).stats.factorisations > 40


@pytest.mark.parametrize("joint", ["spherical", "revolute"])
@pytest.mark.parametrize("method, h", [("genalpha", 1e-3), ("rk44", 1e-3)])
def test_chain_of_pendulums_keeps_its_energy_and_its_joints(method, h, joint):
    chain = lgint.models.pendulum_chain(n=10, joint=joint)
    options = dict(rho_inf=1.0, newton="full") if method == "genalpha" else {}
    run = lgint.integrate(chain, method, t_end=0.1, h=h, **options)
    energy = run.energy()
    assert np.ptp(energy) < 1e-4 * np.ptp(run.position("link10")[:, 2]) * 9.81 * 0.1
    assert run.stats.dense_fallbacks == 0
    assert np.abs(run.constraint_residual("position")).max() < (1e-13 if method == "genalpha" else 1e-7)


def spring_chain(n, reach):
    """A chain of pendulums with a spring between each link and the one `reach` places further, or none if it is 0."""
    builder = lgint.ModelBuilder(gravity=(0, 0, -9.81))
    for i in range(n):
        link, before = f"link{i}", f"link{i - 1}" if i else lgint.ground
        builder.add_body(link, mass=0.01, inertia=[1e-7, 1e-5, 1e-5], position=((i + 0.5) * 0.1, 0, 0))
        builder.add_joint("spherical", before, link, point=(i * 0.1, 0, 0))
    for i in range(reach, n if reach else 0):
        points = [((j + 0.5) * 0.1, 0, 0.02) for j in (i - reach, i)]
        builder.add_spring(
            f"link{i - reach}", f"link{i}", stiffness=20, damping=0.01, point_a=points[0], point_b=points[1]
        )
    return builder.build()


def test_springs_do_not_fill_the_matrix_of_explicit_methods():
    """Springs fill only the matrix with tangents, and accelerations from both matrices agree."""
    plain = spring_chain(100, 0).core
    fill = plain.matrix_values(tangents=False)
    assert fill < 1.1 * plain.matrix_values()
    for reach in (1, 2):
        chain = spring_chain(100, reach)
        assert chain.core.matrix_values(tangents=False) == fill
        assert chain.core.matrix_values() > 1.4 * fill
        starts = [lgint.integrate(chain, method, t_end=1e-4, h=1e-4) for method in ("rk44", "genalpha")]
        np.testing.assert_allclose(starts[0].vdot[0], starts[1].vdot[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(starts[0].lam[0], starts[1].lam[0], rtol=1e-9, atol=1e-9)


def test_long_chains_cost_in_proportion():
    """The fill grows in proportion to the number of pendulums, from one to ten thousand."""
    fill = {}
    for n in (1, 10, 100, 1000, 10000):
        chain = lgint.models.pendulum_chain(n=n)
        fill[n] = chain.core.matrix_values()
        run = lgint.integrate(chain, "genalpha", t_end=2e-3, h=1e-3)
        assert run.stats.dense_fallbacks == 0
        assert np.isfinite(run.q).all()
    for n in (100, 1000, 10000):
        assert (fill[n] - fill[10]) / (n - 10) == pytest.approx((fill[10000] - fill[1000]) / 9000, rel=1e-12)


@pytest.mark.parametrize("method", lgint.methods())
def test_factorisations_are_counted_by_kind(method):
    """Newton's matrices by its own count, twice where index 2 is stabilised; the others are of masses."""
    options = {o["name"] for o in lgint.method_info(method)["options"]}
    top = lgint.models.heavy_top(formulation="euler_parameters")
    for chosen in ({}, {"index": "stabilized"}) if "index" in options else ({},):
        run = lgint.integrate(top, method, t_end=0.01, h=1e-3, **chosen)
        stats, matrices = run.stats, 2 if run.options.get("index") == "stabilized" else 1
        assert stats.newton_factorisations == matrices * stats.jacobians
        assert stats.newton_factorisations + stats.mass_factorisations == stats.factorisations
        implicit = stats.newton_iterations > 0
        assert (stats.newton_factorisations > 0) == implicit and stats.mass_factorisations > 0
        at_least = 0 if implicit and not method.startswith("radau") else stats.steps
        assert stats.mass_factorisations >= at_least
