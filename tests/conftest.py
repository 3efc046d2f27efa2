"""What the tests share: a seeded generator, matrices to approximate, a source that records what is read, real data."""

import os
import signal
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
from hypothesis import settings

from tests.strategies import gaussian, in_field

settings.register_profile("curplus", deadline=None, max_examples=25)
settings.register_profile("curplus-ci", deadline=None, max_examples=40, derandomize=True, print_blob=True)
settings.register_profile("curplus-stress", deadline=None, max_examples=500, print_blob=True)

STRESS = bool(os.environ.get("CURPLUS_STRESS"))  # the long forms of the checks: make stress
settings.load_profile("curplus-stress" if STRESS else "curplus-ci" if os.environ.get("CI") else "curplus")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell: commands would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def effort(short, full):
    """How much a check does: the first in ``make test``, the second in ``make stress``."""
    return full if STRESS else short


class RecordingSource:
    """A NumPy matrix that remembers every position it was asked for, in the mask ``seen``."""

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix)
        self.seen = np.zeros(self.matrix.shape, dtype=bool)
        self.n_calls = 0

    @property
    def shape(self):
        return self.matrix.shape

    @property
    def dtype(self):
        return self.matrix.dtype

    def rows(self, index):
        return self._read(np.ix_(index, np.arange(self.shape[1])))

    def columns(self, index):
        return self._read(np.ix_(np.arange(self.shape[0]), index))

    def entries(self, i, j):
        return self._read((i, j))

    def _read(self, where):
        self.n_calls += 1
        self.seen[where] = True
        return self.matrix[where]


@pytest.fixture
def rng():
    """A generator with a fixed seed: same seed, same bits."""
    return np.random.default_rng(20150706)


@pytest.fixture
def field():
    """Whether the matrices below are real or complex; a module whose sentences hold for both has one with two."""
    return "real"


@pytest.fixture
def low_rank(rng, field):
    """Factory of incoherent matrices of exact rank: products of Gaussian factors."""

    def make(shape=(30, 20), rank=3, dtype=np.float64):
        n, m = shape
        return (gaussian(rng, (n, rank), field) @ gaussian(rng, (rank, m), field)).astype(in_field(dtype, field))

    return make


@pytest.fixture
def full_rank(rng, field):
    """Factory of matrices of full rank: a low-rank signal under Gaussian noise."""

    def make(shape=(30, 20), rank=3, noise=0.1, dtype=np.float64):
        n, m = shape
        signal = gaussian(rng, (n, rank), field) @ gaussian(rng, (rank, m), field)
        return (signal + noise * gaussian(rng, shape, field)).astype(in_field(dtype, field))

    return make


@pytest.fixture
def coherent(rng):
    """Factory of coherent matrices: sparse, with a few spikes that most samples miss."""

    def make(shape=(30, 20), density=0.05, dtype=np.float64):
        heavy_tailed = np.exp(3 * rng.standard_normal(shape)) * rng.choice([-1.0, 1.0], size=shape)
        return np.where(rng.random(shape) < density, heavy_tailed, 0.0).astype(dtype)

    return make


@pytest.fixture(scope="session")
def recording_source():
    """The class of sources that remember what was read; call it with a matrix."""
    return RecordingSource


def why_unusable(name):
    """Why the tests cannot use an array library; None if they can."""
    if find_spec(name) is None:
        return f"{name} is not installed"
    if name == "cupy" and not import_module("cupy").cuda.is_available():
        return "cupy finds no GPU"
    return None


OTHER_LIBRARIES = ("torch", "cupy")  # tests/test_array_libraries.py names those that cannot be used
USABLE_LIBRARIES = ("array_api_strict", *(name for name in OTHER_LIBRARIES if why_unusable(name) is None))


def array_library(name):
    """The array library of a name, as a namespace."""
    if name in ("numpy", "array_api_strict"):
        return {"numpy": np, "array_api_strict": array_api_strict}[name]
    library = import_module(f"array_api_compat.{name}")
    if name == "torch":
        library.set_warn_always(True)  # it warns only once otherwise, so that only the first test would see it
    return library


@pytest.fixture(params=["numpy", *USABLE_LIBRARIES])
def xp(request):
    """Each array library that the kernels are tested with, as far as it is installed."""
    return array_library(request.param)


@pytest.fixture(scope="session")
def data_dir():
    """The folder of real data sets that CURPLUS_DATA names."""
    folder = os.environ.get("CURPLUS_DATA")
    if not folder:
        pytest.skip("CURPLUS_DATA is not set: it names the folder of real data sets")
    if not Path(folder).is_dir():
        pytest.skip(f"CURPLUS_DATA={folder} is not a folder")
    return Path(folder)
