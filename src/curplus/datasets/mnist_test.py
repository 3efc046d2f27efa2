"""The test images of MNIST: the handwritten digits that Gisette was made of."""

from __future__ import annotations

from .cards import Card, PublishedFile
from .dataset import Dataset
from .folders import DataHome
from .formats.idx import read_idx_images
from .loading import load_matrix

__all__ = ["load_mnist_test"]

CARD = Card(
    name="mnist_test",
    title="MNIST test images",
    origin="Handwritten digits of NIST, centred in 28 x 28 pixels by LeCun, Cortes and Burges; the 10,000 for testing.",
    rows="images",
    columns="pixels",
    values="darkness of the pixel, 0 to 255",
    shape=(10_000, 784),
    nnz=1_511_219,
    total=264_923_200,
    licence="none stated by its authors",
    citation=(
        "Y. LeCun, L. Bottou, Y. Bengio and P. Haffner. Gradient-based learning applied to document recognition. "
        "Proceedings of the IEEE 86(11), pages 2278-2324, 1998."
    ),
    published="http://yann.lecun.com/exdb/mnist/",
    files=(
        PublishedFile(
            "t10k-images-idx3-ubyte.gz",
            "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz",
            "sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            n_rows=10_000,
        ),
    ),
    compact="mnist_t10k.npz",
    notes="Downloaded from a mirror of Google, since the page of its authors is often closed.",
)


def load_mnist_test(*, data_home: DataHome = None) -> Dataset:
    """MNIST test images, 10,000 images x 784 pixels.

    Parameters
    ----------
    data_home : path, optional
        Folder that has the files, and that downloads go to. Left out, the folder that the environment variable
        CURPLUS_DATA names is looked at first, then the cache of downloads.

    Returns
    -------
    Dataset

    Raises
    ------
    SourceError
        If the files are not at hand and cannot be downloaded, or are damaged.

    Notes
    -----
    Stands in for Gisette where that is not at hand; it is not Gisette. Four pixels in five are zero, so the matrix is
    kept sparse.

    Examples
    --------
    >>> from curplus import datasets
    >>> datasets.CARDS["mnist_test"].shape
    (10000, 784)
    """
    return load_matrix(CARD, read_idx_images, data_home)
