import gzip
import os
import struct
import subprocess
import sys
import zipfile
from dataclasses import FrozenInstanceError, replace
from functools import partial

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import curplus
from curplus import datasets
from curplus.exceptions import InvalidArgumentError, SourceError
from curplus.theory import incoherence

PAPER = {
    "enron": (39_861, 28_102),
    "dexter": (20_000, 2_600),
    "farm_ads": (54_877, 4_143),
    "gisette": (13_500, 5_000),
}
KINDS = {kind: [card.name for card in datasets.CARDS.values() if card.kind == kind] for kind in ("matrix", "ratings")}


@pytest.fixture
def shrink(monkeypatch):
    """Factory: make the card of a data set that of a small one, with the same files."""

    def change(name, shape, *, n_rows=None, parsed_with=None, **changes):
        card = datasets.CARDS[name]
        files = tuple(file._replace(n_rows=n_rows, total=None) for file in card.files)
        parse = partial(card.parse, **parsed_with) if parsed_with else card.parse
        small = {"shape": shape, "nnz": None, "total": None, "files": files, "parse": parse}
        monkeypatch.setitem(datasets.CARDS, name, replace(card, **(small | changes)))

    return change


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


# Cards


def test_the_matrices_of_the_paper_have_the_shapes_of_the_paper():
    assert {name: datasets.CARDS[name].shape for name in PAPER} == PAPER


@pytest.mark.parametrize("card", datasets.CARDS.values(), ids=datasets.CARDS)
def test_a_card_is_complete(card):
    for text in (card.origin, card.licence, card.citation, card.rows, card.columns, card.values):
        assert text
    assert card.published.startswith("http") or not card.files
    assert card.compact.endswith(".npz")
    assert bool(card.files) == (card.parse is not None)
    for file in card.files:
        assert file.url.startswith("http")
        assert file.download_name
        assert file.checksum is None or file.checksum.startswith("sha256:")
    options = getattr(card.parse, "keywords", {})
    assert options.get("n_features", card.shape[0]) in card.shape
    assert options.get("shape", card.shape) == card.shape
    assert card.shape[0] >= card.shape[1] or "although there are fewer" in card.notes
    for fact in (card.title, card.licence, card.citation, f"{card.shape[0]:,} x {card.shape[1]:,}"):
        assert fact in str(card)


@pytest.mark.parametrize("name", datasets.CARDS)
def test_every_data_set_is_loaded_by_its_name(name, tmp_path, shrink):
    shrink(name, (2, 3))
    scipy.sparse.save_npz(tmp_path / datasets.CARDS[name].compact, scipy.sparse.csr_array(MATRIX))
    assert datasets.load(name, data_home=tmp_path).card is datasets.CARDS[name]


def test_the_four_of_the_paper_come_first():
    assert list(datasets.CARDS)[:4] == list(PAPER)
    assert all(name == card.name for name, card in datasets.CARDS.items())


def test_a_data_set_is_one_row_of_the_table(tmp_path, monkeypatch):
    def read_numbers(file):
        return scipy.sparse.csr_array(np.loadtxt(file.path))

    row = {"name": "toy", "files": (datasets.PublishedFile("toy.txt", "http://nowhere/toy.txt"),)}
    card = replace(datasets.CARDS["kos"], **row, compact="toy.npz", shape=(3, 2), nnz=3, total=6, parse=read_numbers)
    monkeypatch.setitem(datasets.CARDS, "toy", card)
    np.savetxt(tmp_path / "toy.txt", MATRIX)
    assert np.array_equal(datasets.load("toy", data_home=tmp_path).matrix.toarray(), MATRIX.T)


def test_check_sums_of_the_parts_add_up_to_those_of_the_whole():
    for name in ("dexter", "gisette"):
        card = datasets.CARDS[name]
        assert sum(file.total for file in card.files) == card.total
        assert sum(file.n_rows for file in card.files) in card.shape


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(InvalidArgumentError, match=r"no data set called 'enorn'\. Choose one of enron, dexter"):
        datasets.load("enorn")


# Published files in a folder

SPARSE = "1:3 2:1\n2:2\n"
MATRIX = np.array([[3, 1, 0], [0, 2, 0]])
BAG = "2\n3\n3\n1 1 3\n1 2 1\n2 2 2\n"


def in_parts(folder, name, text):
    for part in ("train", "valid", "test"):
        write(folder / f"{name}_{part}.data", text)


def test_loads_published_enron(tmp_path, shrink):
    shrink("enron", (2, 3), n_rows=2, nnz=3)
    write(tmp_path / "docword.enron.txt.gz", gzip.compress(BAG.encode()))
    data = datasets.load("enron", data_home=tmp_path)
    assert isinstance(data.matrix, scipy.sparse.csr_array)
    assert data.matrix.dtype == np.float64
    assert np.array_equal(data.matrix.toarray(), MATRIX)
    assert repr(data) == "<Enron emails: 2 documents x 3 words, 3 non-zero>"


def test_loads_published_kos_with_words_as_rows(tmp_path, shrink):
    shrink("kos", (3, 2))
    write(tmp_path / "docword.kos.txt", BAG)
    assert np.array_equal(datasets.load("kos", data_home=str(tmp_path)).matrix.toarray(), MATRIX.T)


@pytest.mark.parametrize("where", ["", "DEXTER", "zip"])
def test_loads_published_dexter_with_terms_as_rows(tmp_path, shrink, where):
    shrink("dexter", (3, 6), n_rows=2, parsed_with={"n_features": 3})
    in_parts(tmp_path / where, "dexter", SPARSE)
    if where == "zip":
        with zipfile.ZipFile(tmp_path / "dexter.zip", "w") as archive:
            for path in (tmp_path / "zip").iterdir():
                archive.write(path, f"DEXTER/{path.name}")
    data = datasets.load("dexter", data_home=tmp_path)
    assert np.array_equal(data.matrix.toarray(), np.vstack([MATRIX] * 3).T)
    assert data.matrix.has_canonical_format


def test_loads_published_gisette(tmp_path, shrink):
    shrink("gisette", (6, 3), n_rows=2, parsed_with={"n_features": 3})
    in_parts(tmp_path / "GISETTE", "gisette", "3 1 0 \n0 2 0 \n")
    data = datasets.load("gisette", data_home=tmp_path)
    assert np.array_equal(data.matrix.toarray(), np.vstack([MATRIX] * 3))
    assert data.matrix.nnz == 9


def test_loads_published_farm_ads_with_terms_as_rows(tmp_path, shrink):
    shrink("farm_ads", (3, 2), parsed_with={"n_features": 3})
    write(tmp_path / "farm-ads-vect", "1 1:3 2:1\n-1 2:2\n")
    assert np.array_equal(datasets.load("farm_ads", data_home=tmp_path).matrix.toarray(), MATRIX.T)


def test_loads_published_tdt2_with_terms_as_rows(tmp_path, shrink):
    shrink("tdt2", (3, 2))
    scipy.io.savemat(tmp_path / "TDT2_all.mat", {"fea": scipy.sparse.csc_array(MATRIX.astype(float)), "gnd": [1, 2]})
    assert np.array_equal(datasets.load("tdt2", data_home=tmp_path).matrix.toarray(), MATRIX.T)


def test_loads_published_mnist(tmp_path, shrink):
    shrink("mnist_test", (2, 4))
    images = struct.pack(">4i", 0x803, 2, 2, 2) + bytes([0, 255, 0, 1, 0, 0, 0, 0])
    write(tmp_path / "t10k-images-idx3-ubyte.gz", gzip.compress(images))
    assert datasets.load("mnist_test", data_home=tmp_path).matrix.toarray().tolist() == [[0, 255, 0, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize("where", ["u.data", "ml-100k/u.data", "zip"])
def test_loads_published_movielens_as_entries_not_as_a_matrix_of_zeros(tmp_path, shrink, where):
    shrink("movielens_100k", (3, 4), nnz=2, total=8, parsed_with={"shape": (3, 4)})
    text = "3\t4\t5\t881250949\n1\t2\t3\t891717742\n"
    if where == "zip":
        with zipfile.ZipFile(tmp_path / "ml-100k.zip", "w") as archive:
            archive.writestr("ml-100k/u.data", text)
    else:
        write(tmp_path / where, text)
    data = datasets.load("movielens_100k", data_home=tmp_path)
    assert (data.i.tolist(), data.j.tolist(), data.values.tolist()) == ([0, 2], [1, 3], [3.0, 5.0])
    assert not hasattr(data, "matrix")
    seen = data.observation()
    assert seen.shape == data.shape == (3, 4)
    assert seen.n_entries == data.n_entries == 2
    assert repr(data) == "<MovieLens 100k: 2 ratings, 3 users x 4 movies>"


def test_what_is_loaded_cannot_be_replaced(tmp_path, shrink):
    shrink("enron", (2, 3))
    write(tmp_path / "docword.enron.txt", BAG)
    data = datasets.load("enron", data_home=tmp_path)
    with pytest.raises(FrozenInstanceError):
        data.matrix = None
    with pytest.raises(FrozenInstanceError):
        data.card.licence = "none"


# Files that are not what the card says


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (2, 4)}, r"the matrix is \(2, 3\) and Enron emails is \(2, 4\)"),
        ({"nnz": 4}, "non-zero entries: 3, but Enron emails has 4"),
        ({"total": 7}, "sum: 6, but Enron emails has 7"),
        ({"n_rows": 3}, "it holds 2 rows and should hold 3"),
    ],
)
def test_files_that_do_not_fit_the_card_are_reported(tmp_path, shrink, changes, message):
    shrink("enron", **({"shape": (2, 3)} | changes))
    write(tmp_path / "docword.enron.txt", BAG)
    with pytest.raises(SourceError, match=rf"docword\.enron\.txt: {message}"):
        datasets.load("enron", data_home=tmp_path)


def test_a_part_with_the_wrong_check_sum_is_named(tmp_path, shrink):
    files = tuple(file._replace(n_rows=None, total=6) for file in datasets.CARDS["dexter"].files)
    shrink("dexter", (3, 6), files=files, parsed_with={"n_features": 3})
    in_parts(tmp_path, "dexter", SPARSE)
    datasets.load("dexter", data_home=tmp_path)
    write(tmp_path / "dexter_valid.data", "1:3 2:1\n2:3\n")
    with pytest.raises(SourceError, match=r"dexter_valid\.data: its values add up to 7 and should add up to 6"):
        datasets.load("dexter", data_home=tmp_path)


def test_ratings_that_are_not_complete_are_reported(tmp_path, shrink):
    write(tmp_path / "u.data", "3\t4\t5\t881250949\n")
    with pytest.raises(SourceError, match=r"u\.data: ratings: 1, but MovieLens 100k has 100000"):
        datasets.load("movielens_100k", data_home=tmp_path)
    shrink("movielens_100k", (943, 1682), nnz=1, total=352_986)
    with pytest.raises(SourceError, match=r"u\.data: sum: 5, but MovieLens 100k has 352986"):
        datasets.load("movielens_100k", data_home=tmp_path)


def test_a_rating_of_zero_is_known(tmp_path, shrink):
    shrink("jester5k", (3, 2), nnz=3, total=-0.25)
    arrays = {"rows": [2, 0, 0], "cols": [1, 1, 0], "values": [-50, 0, 25], "scale": 0.01}
    np.savez(tmp_path / "jester5k.npz", **arrays, shape=[3, 2])
    data = datasets.load("jester5k", data_home=tmp_path)
    assert (data.i.tolist(), data.j.tolist(), data.values.tolist()) == ([0, 0, 2], [0, 1, 1], [0.25, 0.0, -0.5])


def test_a_dense_matrix_is_an_array(tmp_path, shrink):
    shrink("gene_stt", (3, 2), nnz=3, total=6)
    np.savez(tmp_path / "gene_stt.npz", X=MATRIX.astype(np.float32))
    data = datasets.load("gene_stt", data_home=tmp_path)
    assert isinstance(data.matrix, np.ndarray)
    assert data.matrix.dtype == np.float64
    assert np.array_equal(data.matrix, MATRIX.T)
    assert repr(data) == "<Soft-tissue tumours: 3 genes x 2 samples, 3 non-zero>"


SHIPPED = [card for card in datasets.CARDS.values() if card.is_shipped]
ELSEWHERE = [card for card in datasets.CARDS.values() if not card.files and not card.is_shipped]


@pytest.mark.parametrize("card", ELSEWHERE, ids=lambda card: card.name)
def test_what_cannot_be_downloaded_says_where_it_is_published(tmp_path, card):
    with pytest.raises(SourceError, match=f"{card.compact} is not at hand, and cannot be downloaded") as raised:
        datasets.load(card.name, data_home=tmp_path)
    assert f"{card.title} is published at {card.published}: put {card.compact} into {tmp_path}" in str(raised.value)


def test_a_folder_that_is_a_file_or_missing_is_reported(tmp_path, monkeypatch):
    write(tmp_path / "file", "")
    with pytest.raises(InvalidArgumentError, match=r"data_home='.*file' is a file"):
        datasets.load("kos", data_home=tmp_path / "file")
    monkeypatch.setenv("CURPLUS_DATA", str(tmp_path / "missing"))
    with pytest.raises(InvalidArgumentError, match=r"CURPLUS_DATA=.*missing is not a folder"):
        datasets.load("kos")


def test_a_compact_file_stands_in_for_the_published_ones(tmp_path, shrink, monkeypatch):
    shrink("dexter", (3, 2), nnz=3, total=6)
    scipy.sparse.save_npz(tmp_path / "dexter.npz", scipy.sparse.csr_array(MATRIX.T.astype(np.uint16)))
    monkeypatch.setenv("CURPLUS_DATA", str(tmp_path))
    assert np.array_equal(datasets.load("dexter").matrix.toarray(), MATRIX.T)
    assert datasets.locate(datasets.CARDS["dexter"]) == (tmp_path / "dexter.npz",)
    assert datasets.locate(datasets.CARDS["kos"], data_home=tmp_path) == ()


# Data that come with the package

ORIGINALS = {"llm_answers": ("llm_items.npz", "ifeval"), "oboe_errors": ("oboe.npz", "error")}


@pytest.mark.parametrize("card", SHIPPED, ids=lambda card: card.name)
def test_what_comes_with_the_package_needs_no_folder(card, tmp_path):
    data = datasets.load(card.name, data_home=tmp_path)
    assert data.matrix.shape == card.shape
    assert isinstance(data.matrix, np.ndarray)
    (path,) = datasets.locate(card, data_home=tmp_path)
    assert path.name == card.compact
    text = (path.parent / "LICENCES.md").read_text(encoding="utf-8")
    words = " ".join(text.split())
    for part in (f"`{card.compact}`", card.published, card.citation, f"Licence: {card.licence}"):
        assert part in words


def test_what_comes_with_the_package_is_small():
    (folder,) = {path.parent for card in SHIPPED for path in datasets.locate(card)}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 300_000


@pytest.mark.parametrize(("name", "original"), ORIGINALS.items(), ids=ORIGINALS)
def test_what_comes_with_the_package_equals_what_was_published(data_dir, name, original):
    file, array = original
    if not (data_dir / file).is_file():
        pytest.skip(f"{file} is not in {data_dir}")
    assert np.array_equal(datasets.load(name).matrix, np.load(data_dir / file, allow_pickle=False)[array])


# The real data, where it is at hand


@pytest.mark.parametrize("name", KINDS["matrix"])
def test_the_compact_file_is_what_its_card_says(data_dir, name):
    if not datasets.locate(datasets.CARDS[name], data_home=data_dir):
        pytest.skip(f"{name} is not in {data_dir}")
    data = datasets.load(name, data_home=data_dir)
    assert data.matrix.shape == data.card.shape
    assert data.nnz == data.card.nnz
    assert data.matrix.dtype == np.float64
    assert curplus.as_source(data.matrix).shape == data.shape


@pytest.mark.parametrize("name", KINDS["ratings"])
def test_the_compact_ratings_are_what_their_card_says(data_dir, name):
    if not datasets.locate(datasets.CARDS[name], data_home=data_dir):
        pytest.skip(f"{name} is not in {data_dir}")
    data = datasets.load(name, data_home=data_dir)
    assert data.n_entries == data.observation().n_values_read == data.card.nnz


SCALES = {"movielens_100k": np.arange(1, 6), "flixster": np.arange(0.5, 5.5, 0.5)}


@pytest.mark.parametrize(("name", "scale"), SCALES.items(), ids=SCALES)
def test_the_compact_ratings_are_on_their_scale(data_dir, name, scale):
    if not datasets.locate(datasets.CARDS[name], data_home=data_dir):
        pytest.skip(f"{name} is not in {data_dir}")
    assert set(datasets.load(name, data_home=data_dir).values) == set(scale)


def as_pairs(row):
    return " ".join(f"{j + 1}:{v:.0f}" for j, v in zip(row.indices, row.data, strict=True))


def written_dexter(folder, M):
    bounds = [0, 300, 600, 2600]
    for part, start, stop in zip(("train", "valid", "test"), bounds[:-1], bounds[1:], strict=True):
        write(folder / f"dexter_{part}.data", "".join(as_pairs(M[[t]]) + " \n" for t in range(start, stop)))


def written_kos(folder, M):
    C = M.tocoo()
    records = zip((C.row + 1).tolist(), (C.col + 1).tolist(), C.data.astype(int).tolist(), strict=True)
    lines = [*map(str, (*M.shape, M.nnz)), *(f"{i} {j} {count}" for i, j, count in records)]
    write(folder / "docword.kos.txt", "\n".join(lines))


def written_mnist(folder, M):
    images = struct.pack(">4i", 0x803, 10_000, 28, 28) + M.toarray().astype(np.uint8).tobytes()
    write(folder / "t10k-images-idx3-ubyte.gz", gzip.compress(images, compresslevel=1))


def written_tdt2(folder, M):
    scipy.io.savemat(folder / "TDT2_all.mat", {"fea": scipy.sparse.csc_array(M)})


WRITERS = {"dexter": written_dexter, "kos": written_kos, "mnist_test": written_mnist, "tdt2": written_tdt2}


@pytest.mark.parametrize("name", WRITERS)
def test_published_and_compact_files_give_the_same_bits(data_dir, tmp_path, name):
    if not datasets.locate(datasets.CARDS[name], data_home=data_dir):
        pytest.skip(f"{name} is not in {data_dir}")
    compact = datasets.load(name, data_home=data_dir).matrix
    as_published = compact if name == "mnist_test" else scipy.sparse.csr_array(compact.T)
    WRITERS[name](tmp_path, as_published)
    published = datasets.load(name, data_home=tmp_path).matrix
    for attribute in ("indptr", "indices", "data"):
        ours, theirs = getattr(published, attribute), getattr(compact, attribute)
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


# Synthetic matrices

MADE = {
    "low rank": lambda rng=0: datasets.make_low_rank((30, 20), 3, rng=rng),
    "spectrum": lambda rng=0: datasets.make_spectrum((30, 20), [3.0, 2.0, 1.0], rng=rng),
    "coherent spectrum": lambda rng=0: datasets.make_spectrum((30, 20), [3.0, 2.0, 1.0], coherence=0.8, rng=rng),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_made_matrix_is_a_source_of_its_entries(make):
    source = make()
    M = source.to_array()
    assert isinstance(source, curplus.Source)
    assert curplus.as_source(source) is source
    assert source.shape == M.shape
    assert source.dtype == M.dtype
    i, j = np.array([3, 29, 3]), np.array([0, 19, 7])
    assert np.allclose(source.rows(i), M[i])
    assert np.allclose(source.columns(j), M[:, j])
    assert np.allclose(source.entries(i, j), M[i, j])
    assert source.entries(i[:0], j[:0]).shape == (0,)
    assert np.allclose(source.matmat(np.eye(20)[:, :4]), M[:, :4])
    assert np.allclose(source.singular_values(), np.linalg.svd(M, compute_uv=False)[:3])


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_same_seed_same_bits(make):
    assert np.array_equal(make(7).to_array(), make(7).to_array())
    assert not np.array_equal(make(7).to_array(), make(8).to_array())


def test_factors_of_a_low_rank_matrix_are_independent_gaussians():
    source = datasets.make_low_rank((4000, 3000), 5, rng=1)
    for factor in (source.left, source.right):
        assert abs(factor.mean()) < 0.03
        assert abs(factor.std() - 1) < 0.03
    assert source.shape == (4000, 3000)
    assert (source.left.shape, source.right.shape) == ((4000, 5), (5, 3000))


def test_a_low_rank_matrix_is_recovered_from_a_few_of_its_entries():
    source = datasets.make_low_rank((300, 200), 4, rng=0)
    seen = curplus.observe(source, n_columns=8, n_rows=8, n_entries=100, rng=0)
    assert np.allclose(curplus.cur_plus(seen, rank=4).to_array(), source.to_array())


@pytest.mark.parametrize("coherence", [None, 0.0, 0.3, 1.0])
@pytest.mark.parametrize(("n", "m", "k"), [(40, 30, 6), (30, 40, 30), (20, 20, 20), (5, 1, 1), (3, 2, 2)])
def test_the_spectrum_is_the_one_asked_for(n, m, k, coherence):
    s = 0.9 ** np.arange(k)
    source = datasets.make_spectrum((n, m), s, coherence=coherence, rng=0)
    assert np.allclose(np.linalg.svd(source.to_array(), compute_uv=False)[:k], s)


@pytest.mark.parametrize("coherence", [0.5, 0.8, 1.0])
def test_the_coherence_is_the_one_asked_for_at_every_leading_rank(coherence):
    source = datasets.make_spectrum((200, 300), 0.9 ** np.arange(10), coherence=coherence, rng=0)
    U, _, Vt = np.linalg.svd(source.to_array(), full_matrices=False)
    for r in (1, 4, 10):
        assert incoherence(U[:, :r], Vt[:r].T) == pytest.approx(300 * coherence / r)


def test_without_a_coherence_the_matrix_is_incoherent():
    source = datasets.make_spectrum((200, 300), np.ones(10), rng=0)
    U, _, Vt = np.linalg.svd(source.to_array(), full_matrices=False)
    assert incoherence(U[:, :10], Vt[:10].T) < 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.make_low_rank((5, 4), 5), "rank=5 but the matrix has only 4"),
        (lambda: datasets.make_low_rank((0, 4), 1), r"shape\[0\]=0 is too small"),
        (lambda: datasets.make_low_rank((5, 4.5), 1), r"shape\[1\]=4.5 is not a whole number"),
        (lambda: datasets.make_spectrum((5, 4), [1.0] * 5), r"shape \(5,\). Give a list of 1 to 4"),
        (lambda: datasets.make_spectrum((5, 4), []), r"shape \(0,\). Give a list of 1 to 4"),
        (lambda: datasets.make_spectrum((5, 4), [1.0, 2.0]), "finite, not negative and descending"),
        (lambda: datasets.make_spectrum((5, 4), [1.0, -2.0]), "finite, not negative and descending"),
        (lambda: datasets.make_spectrum((5, 4), [np.nan]), "finite, not negative and descending"),
        (lambda: datasets.make_spectrum((5, 4), [1.0], coherence=2), "coherence=2 is a share of the whole"),
    ],
)
def test_a_matrix_that_cannot_be_made_is_refused(call, message):
    with pytest.raises(InvalidArgumentError, match=message):
        call()


# The command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that has a compact file of ratings, made up but of the right number and sum, and nothing else."""
    n = np.arange(100_000)
    values = np.full(100_000, 3) + (n < 52_986)
    np.savez(tmp_path / "movielens_100k.npz", rows=n // 1682, cols=n % 1682, values=values, shape=[943, 1682])
    monkeypatch.setenv("CURPLUS_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "250")
    return tmp_path


def printed_by(*arguments):
    """What ``curplus datasets`` prints, without the cost of a new process."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from curplus.cli.main import app

    done = CliRunner().invoke(app, ["datasets", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_lists_all_data_sets_and_says_which_are_at_hand(folder):
    printed = printed_by("list").splitlines()
    lines = {line.split("│")[1].strip(): line for line in printed if line.startswith("│")}
    assert list(lines) == list(datasets.CARDS)
    assert "39,861 x 28,102" in lines["enron"]
    assert lines["movielens_100k"].split("│")[-2].strip() == "yes"


def test_shows_a_card(folder):
    printed = printed_by("info", "farm_ads")
    for fact in ("Mesterharm", "CC BY 4.0", "54,877 x 4,143", "817,141", "https://archive.ics.uci.edu/dataset/218"):
        assert fact in printed


def test_fetching_what_is_at_hand_says_where_it_is(folder):
    for arguments in (["fetch", "movielens_100k"], ["fetch", "movielens_100k", "--data-home", str(folder)]):
        printed = printed_by(*arguments)
        assert "100000 ratings, 943 users x 1682 movies" in printed
        assert str(folder / "movielens_100k.npz") in printed
        assert "for research only" in printed


@pytest.mark.parametrize("command", ["info", "fetch"])
def test_an_unknown_data_set_is_one_line_of_error(command):
    pytest.importorskip("typer")
    code = [sys.executable, "-m", "curplus", "datasets", command, "enorn"]
    environment = os.environ | {"COLUMNS": "250"}
    done = subprocess.run(code, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "no data set called 'enorn'. Choose one of enron," in done.stderr
    assert "Traceback" not in done.stderr
