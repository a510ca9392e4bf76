"""Trajectories as tables of xarray and pandas hold the numbers of the accessors, with names and units."""

import sys

import numpy as np
import pytest

import lgint
from face import systems
from face.tops import functions


@pytest.fixture(scope="module")
def crank():
    return lgint.integrate(lgint.models.slider_crank(), "genalpha", t_end=0.02, h=1e-3)


def test_a_dataset_holds_what_the_accessors_give(crank):
    data = crank.to_xarray()
    assert np.array_equal(data["time"], crank.t) and data["time"].attrs["units"] == "s"
    for name in ("q", "v", "vdot", "lam", "h"):
        assert np.array_equal(data[name], getattr(crank, name)), name
    for name in ("position", "quaternion", "velocity", "angular_velocity"):
        for body in crank.model.bodies:
            assert np.allclose(data[name].sel(body=body), getattr(crank, name)(body), rtol=0, atol=1e-15), name
    assert np.array_equal(data["joint_angle"].sel(joint="A"), crank.joint_angle("A"))
    assert np.array_equal(data["kinetic_energy"] + data["potential_energy"], crank.energy())
    assert list(data["row"].values) == crank.row_names and list(data["axis"].values) == ["x", "y", "z"]
    assert data["velocity"].attrs["units"] == "m/s" and data["angular_velocity"].attrs["units"] == "rad/s"
    assert all("long_name" in data[name].attrs for name in data.data_vars)
    assert data.attrs["method"] == "genalpha" and "holzinger2024" in data.attrs["reference"]
    slider = data["position"].sel(body="slider", axis="x").interp(time=0.0105)
    assert abs(slider - crank.position("slider")[10:12, 0].mean()) < 1e-12


def test_coordinates_have_the_names_of_their_bodies(crank):
    data = crank.to_xarray()
    assert list(data["coordinate"].values[:13:12]) == ["crank[0]", "rod[0]"] and data["speed"].values[-1] == "slider[5]"
    tree = lgint.integrate(systems.double_pendulum("minimal", "minimal"), "rk44", t_end=0.1, h=1e-2)
    assert list(tree.to_xarray()["coordinate"].values) == tree.angle_names
    assert np.array_equal(tree.to_xarray()["q"].sel(coordinate=tree.angle_names[1]), tree.joint_angles()[:, 1])


def test_a_frame_has_the_columns_of_the_dataset(crank):
    table, data = crank.to_pandas(), crank.to_xarray()
    assert np.array_equal(table.index, crank.t) and table.index.name == "time" and len(table) == len(crank)
    assert np.array_equal(table["position", "rod", "y"], crank.position("rod")[:, 1])
    assert np.array_equal(table["lam", crank.row_names[3], ""], crank.lam[:, 3])
    assert np.array_equal(table["joint_angle", "A", ""], crank.joint_angle("A"))
    assert np.array_equal(table["velocity"]["crank"], crank.velocity("crank"))
    assert table.shape[1] == sum(int(np.prod(data[name].shape[1:])) for name in data.data_vars)
    assert table.columns.is_unique and table.attrs["units"]["position"] == "m"


def test_momenta_of_a_system_of_functions():
    run = lgint.integrate(lgint.models.spring_pendulum(), "mph", t_end=0.1, h=0.02)
    data = run.to_xarray()
    assert np.array_equal(data["p"], run.extra["p"]) and list(data["speed"].values) == ["v[0]", "v[1]", "v[2]"]
    assert "position" not in data and np.array_equal(run.to_pandas()["p"]["v[1]", ""], run.extra["p"][:, 1])


def test_a_system_without_energy():
    model = lgint.CallableModel("R3xSO3", **{**functions(), "energy": None})
    data = lgint.integrate(model, "rk44", t_end=0.01, h=1e-3).to_xarray()
    assert "kinetic_energy" not in data and data["q"].shape == (11, 12)


def test_runs_that_kept_some_quantities_only():
    top = lgint.models.heavy_top()
    saved = {"tip": lambda run: run.position("top"), "turn": lambda run: run.rotation("top")}
    whole, chosen = (lgint.integrate(top, "rk44", t_end=0.02, h=1e-3, **options) for options in ({}, {"save": saved}))
    data, table = chosen.to_xarray(), chosen.to_pandas()
    assert np.array_equal(data["tip"], whole.position("top")) and "q" not in data and "position" not in data
    assert np.array_equal(table["turn", "1", "2"], whole.rotation("top")[:, 1, 2]) and table.columns.is_unique
    bare = lgint.integrate(top, "rk44", t_end=0.02, h=1e-3, save=["q", "lam"]).to_xarray()
    assert np.array_equal(bare["lam"], whole.lam) and set(bare.data_vars) == {"h", "error", "q", "lam"}


def test_equilibria_have_loads_for_times():
    b = lgint.ModelBuilder(gravity=systems.GRAVITY)
    b.add_body("bob", mass=1.0, inertia=(1, 1, 1))
    b.add_spring(lgint.ground, "bob", point=[(0, 0, 1), (0, 0, 0)], stiffness=1e3, length=1.0)
    b.add_joint("prismatic", lgint.ground, "bob", point=(0, 0, 0), axis=(0, 0, 1))
    run = lgint.equilibrium(b.build(), loads=[0.5, 1.0])
    data = run.to_xarray()
    assert list(data["load"].values) == [0.5, 1.0] and data["load"].attrs["units"] == "1" and "time" not in data.dims
    assert np.allclose(data["position"].sel(body="bob", axis="z"), [-9.81 / 2000, -9.81 / 1000], rtol=1e-6)
    assert run.to_pandas().index.name == "load"


@pytest.mark.parametrize(("package", "call"), [("xarray", "to_xarray"), ("pandas", "to_pandas")])
def test_what_to_install(crank, package, call, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{call} needs {package}: pip install 'lgint\[tables\]'"):
        getattr(crank, call)()
