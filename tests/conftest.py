"""Settings of the whole suite: the same examples in every run, no display, a browser where there is one."""

import gc
import os
import shutil
import signal
import zlib
from collections import Counter

os.environ["MPLBACKEND"] = "Agg"  # notebooks and plots draw into files
# as many tests run at a time as there are processors, so each takes one; NumPy reads it when it is imported
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

# a shell that starts the suite in the background may let it ignore Ctrl-C, on which tests wait
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("lgint", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("lgint")

# the browser that tests marked `browser` drive; if LGINT_CHROMIUM names one that is missing, the tests fail
NAMED = os.environ.get("LGINT_CHROMIUM")
CHROMIUM = next(filter(None, map(shutil.which, [NAMED] if NAMED else ["chromium", "chromium-browser"])), NAMED)


# of a test with more cases than these, `--cases` leaves some out
MANY_CASES = 8


def pytest_addoption(parser):
    """The shares of slow tests and of the cases of one test that `make slow` and `make sanitize` run with SHARE=N."""
    parser.addoption("--share", type=int, default=1, metavar="N", help="run one in N of the tests marked `slow`")
    parser.addoption(
        "--cases", type=int, default=1, metavar="N", help=f"of a test with over {MANY_CASES} cases run about one in N"
    )


def cases_beyond(items, share):
    """About all but one in `share` of the cases of every test with many, the same ones in every run."""
    test = {item: item.nodeid.partition("[")[0] for item in items}
    cases = Counter(test.values())
    return {item for item in items if cases[test[item]] > MANY_CASES and zlib.crc32(item.nodeid.encode()) % share != 0}


def pytest_collection_modifyitems(config, items):
    """Leaves out what is beyond the requested shares, and tests in a browser if there is none."""
    slow = [item for item in items if item.get_closest_marker("slow")]
    left_out = set(slow) - set(slow[:: config.getoption("share")])
    left_out |= cases_beyond(items, config.getoption("cases"))
    if CHROMIUM is None:
        left_out |= {item for item in items if item.get_closest_marker("browser")}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def pytest_report_header():
    """The browser, or how to get one."""
    missing = "none found, tests marked `browser` are left out (apt-get install chromium, or set LGINT_CHROMIUM)"
    return f"chromium: {CHROMIUM or missing}"


@pytest.fixture
def rng():
    """A generator of random numbers with a fixed seed."""
    return np.random.default_rng(20240607)


@pytest.fixture
def no_collection():
    """Collects the garbage of other tests, which would otherwise be freed while memory is measured."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def browser():
    """Chromium, without a window and without a network."""
    from playwright.sync_api import sync_playwright

    # WebGL is computed by the processor; the sandbox is not available to root
    arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as program:
        found = program.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield found
        found.close()
