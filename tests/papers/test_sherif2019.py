"""Artifacts of sherif2019: where the modified scheme fails, and that it needs no fewer iterations."""

from lgint._papers import sherif2019_newton


def test_the_modified_scheme_fails_with_joints_unless_alpha_damps_them():
    claims = sherif2019_newton.small_alpha.make(True).claims
    ends = {claim.text.split(":")[0]: float(claim.ours) for claim in claims}
    assert ends["alpha = 0"] < ends["alpha = -0.02"] < ends["alpha = -0.1"] < 0.2
    assert ends["alpha = -0.2"] == ends["alpha = -0.3"] == 0.5


def test_no_fewer_iterations():
    assert [claim.holds for claim in sherif2019_newton.newton.make(True).claims] == [False, False]
