"""An HDF5 file that leads to other files is not followed unless the caller says so."""

import subprocess
import sys

import numpy as np
import pytest

import curplus
from curplus.exceptions import SourceError

h5py = pytest.importorskip("h5py")


@pytest.fixture
def secret(tmp_path):
    """A file of somebody, which another file must not get at: as plain bytes, and as a matrix."""
    (tmp_path / "secret.bin").write_bytes(b"root:x:0:0:root!")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["matrix"] = np.frombuffer(b"root:x:0:0:root!", np.uint8).reshape(4, 4)
    return tmp_path


def external_storage(file, secret):
    stored = [(str(secret / "secret.bin"), 0, 16)]
    file.create_dataset("group/matrix", (4, 4), np.uint8, external=stored)


def virtual(file, secret):
    layout = h5py.VirtualLayout((4, 4), np.uint8)
    layout[:] = h5py.VirtualSource(str(secret / "secret.h5"), "matrix", (4, 4))
    file.create_virtual_dataset("group/matrix", layout)


def external_link(file, secret):
    file["group/matrix"] = h5py.ExternalLink(str(secret / "secret.h5"), "matrix")


WAYS = pytest.mark.parametrize("lead_elsewhere", [external_storage, virtual, external_link])


@WAYS
@pytest.mark.parametrize("dataset", [None, "group/matrix"])
@pytest.mark.parametrize("name", ["a.h5", "a.hdf5", "a.npy"])
def test_a_file_that_leads_to_others_is_refused(secret, lead_elsewhere, dataset, name):
    with h5py.File(secret / name, "w") as file:
        lead_elsewhere(file, secret)
    with pytest.raises(SourceError, match=r"has data in other files \(group/matrix: .*If you trust it, say external=T"):
        curplus.open_source(secret / name, dataset=dataset)


@WAYS
def test_with_permission_it_is_followed(secret, lead_elsewhere):
    with h5py.File(secret / "a.h5", "w") as file:
        lead_elsewhere(file, secret)
    source = curplus.open_source(secret / "a.h5", dataset="group/matrix", external=True)
    assert bytes(np.asarray(source.rows([0]), dtype=np.uint8)) == b"root"


def test_anndata_files_are_looked_into_too(secret):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(np.zeros((4, 4))).write_h5ad(secret / "a.h5ad")
    assert curplus.open_source(secret / "a.h5ad").shape == (4, 4)
    with h5py.File(secret / "a.h5ad", "a") as file:
        del file["X"]
        file["X"] = h5py.ExternalLink(str(secret / "secret.h5"), "matrix")
    with pytest.raises(SourceError, match=r"has data in other files \(X: "):
        curplus.open_source(secret / "a.h5ad")


def test_the_command_line_has_an_option_for_it(secret):
    with h5py.File(secret / "a.h5", "w") as file:
        external_storage(file, secret)
    ends = {}
    for option in ((), ("--external",)):
        command = [sys.executable, "-m", "curplus", "info", str(secret / "a.h5"), *option]
        ends[option] = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ends[()].returncode
    assert "--external" in ends[()].stderr
    assert ends["--external",].returncode == 0, ends["--external",].stderr


def test_a_soft_link_within_the_file_is_followed(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["matrix"] = np.arange(6.0).reshape(2, 3)
        file["other"] = h5py.SoftLink("/matrix")
    assert curplus.open_source(tmp_path / "a.h5", dataset="other").shape == (2, 3)
    assert curplus.open_source(tmp_path / "a.h5").shape == (2, 3)


@pytest.mark.parametrize("shape", [(2**40, 2**40), (2**62, 2)])
def test_a_shape_whose_cells_cannot_be_numbered_is_refused(shape, tmp_path):
    with pytest.raises(curplus.exceptions.InvalidArgumentError, match=r"more than 2\*\*63 - 1 cells"):
        curplus.Observation(shape=shape, i=[0], j=[0], values=[1.0])
    with pytest.raises(curplus.exceptions.InvalidArgumentError, match="is too large: a side may have"):
        curplus.Study.create(tmp_path / "a.study", rows=shape[0], columns=shape[1])
