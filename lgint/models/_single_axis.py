"""A body that turns about one principal axis under a constant moment."""

from lgint._args import number
from lgint._build.builder import ModelBuilder
from lgint._model.model import Model
from lgint.models._registry import benchmark


@benchmark("sherif2019 3, 5, 7")
def single_axis(
    *,
    formulation: str = "euler_parameters",
    inertia: float = 1.0,
    moment: float = 1.0,
    omega0: float = 100.0,
    mass: float = 1.0,
) -> Model:
    """A body that turns about a principal axis under a constant moment.

    The body "body" turns about its COM at the origin, with rotational coordinates only; R = I at the start.

    Parameters
    ----------
    formulation : str
        See `ModelBuilder`.
    inertia : float
        Moment of inertia about the x axis, kg m^2. The other principal moments are the same and have no effect.
    moment : float
        Constant moment about the x axis, N m.
    omega0 : float
        Initial angular velocity about the x axis, rad/s.
    mass : float
        Mass, which has no effect, kg.

    Returns
    -------
    Model
        It starts as described above.
    """
    builder = ModelBuilder(formulation=formulation)
    spin = (number("omega0", omega0), 0.0, 0.0)
    J = number("inertia", inertia, positive=True)
    builder.add_body("body", mass=mass, inertia=(J, J, J), angular_velocity=spin, pivot=(0.0, 0.0, 0.0))
    builder.add_force("body", torque=(number("moment", moment), 0.0, 0.0), frame="body", name="moment")
    return builder.build()
