"""Parsers read what is published, and name the line where a file is broken."""

import gzip
import struct
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from curplus.datasets import formats
from curplus.datasets.files import DataFile
from curplus.datasets.formats import (
    read_bag_of_words,
    read_compact,
    read_dense_rows,
    read_idx_images,
    read_libsvm,
    read_matlab,
    read_movielens,
    read_sparse_rows,
)
from curplus.exceptions import SourceError


@pytest.fixture
def file(tmp_path):
    """Factory: a file with the given text or bytes."""

    def write(content, name="published"):
        path = tmp_path / name
        path.write_bytes(content.encode("latin-1") if isinstance(content, str) else content)
        return DataFile(path)

    return write


# Files, however they are packed


def test_a_file_reads_the_same_plain_compressed_and_in_an_archive(tmp_path):
    text = b"one\ntwo\r\n\nfour \n\n\n"
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(text, mtime=0))
    (tmp_path / "unpacked.gz").write_bytes(text)  # a server or browser has unpacked it and kept the name
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("A/other", "")
        archive.writestr("A/plain", text)
        archive.writestr("A/packed.gz", gzip.compress(text, mtime=0))
    files = [DataFile(tmp_path / name) for name in ("plain", "packed.gz", "unpacked.gz")]
    files += [DataFile(tmp_path / "all.zip", name) for name in ("A/plain", "plain", "B/plain", "A/packed.gz")]
    for each in files:
        assert list(each.lines()) == ["one", "two", "", "four"], each


@pytest.mark.parametrize("content", [gzip.compress(b"1 2 3\n" * 9999, mtime=0)[:-20], b"\x1f\x8bnonsense"])
def test_a_damaged_compressed_file_is_reported(file, content):
    with pytest.raises(SourceError, match=r"docword\.gz: it cannot be unpacked"):
        list(file(content, "docword.gz").lines())


def test_a_damaged_archive_is_reported(tmp_path, file):
    with pytest.raises(SourceError, match="it cannot be unpacked"):
        list(DataFile(file("PK not a zip", "all.zip").path, "member").lines())
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        archive.writestr("other", "")
    with pytest.raises(SourceError, match=r"whole\.zip \(member\): the archive has no such file"):
        list(DataFile(tmp_path / "whole.zip", "member").lines())


# UCI bag of words

BAG = "3\n4\n5\n1 1 2\n1 3 1\n2 2 7\n3 1 1\n3 4 9\n"
COUNTS = np.array([[2, 0, 1, 0], [0, 7, 0, 0], [1, 0, 0, 9]])


@pytest.mark.parametrize("content", [BAG, BAG.replace("\n", " \r\n"), gzip.compress(BAG.encode(), mtime=0)])
def test_reads_a_bag_of_words(file, content):
    matrix = read_bag_of_words(file(content))
    assert isinstance(matrix, scipy.sparse.csr_array)
    assert np.array_equal(matrix.toarray(), COUNTS)


def test_reads_a_bag_of_words_without_words(file):
    assert read_bag_of_words(file("2\n3\n0\n")).shape == (2, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: expected the number of documents, found ''"),
        ("3\nfour\n5\n", "line 2: expected the number of words, found 'four'"),
        ("3\n4\n", "line 3: expected the number of records, found ''"),
        (BAG.replace("5", "6", 1), "line 3: 6 records are announced and 5 follow"),
        (BAG[: -len("3 4 9\n")], "line 3: 5 records are announced and 4 follow"),
        (BAG.replace("2 2 7", "2 2"), "line 6: expected 'document word count', found '2 2'"),
        (BAG.replace("2 2 7", "2 2 7 1"), "line 6: expected 'document word count', found '2 2 7 1'"),
        (BAG.replace("2 2 7", "2 two 7"), "line 6: expected 'document word count', found '2 two 7'"),
        (BAG.replace("2 2 7", "2 2 7.5"), "line 6: expected 'document word count', found '2 2 7.5'"),
        (BAG.replace("2 2 7", "2 2 nan"), "line 6: expected 'document word count'"),
        (BAG.replace("2 2 7", "2 2 inf"), "line 6: expected 'document word count'"),
        (BAG.replace("2 2 7", "2 2 \xff"), "line 6: expected 'document word count'"),
        (BAG.replace("2 2 7", ""), "line 6: expected 'document word count', found ''"),
        (BAG.replace("2 2 7", "4 2 7"), "line 6: document 4 is not between 1 and 3"),
        (BAG.replace("2 2 7", "0 2 7"), "line 6: document 0 is not between 1 and 3"),
        (BAG.replace("2 2 7", "2 5 7"), "line 6: word 5 is not between 1 and 4"),
        (BAG.replace("2 2 7", "2 2 0"), "line 6: count 0 is not between"),
        (BAG.replace("3 4 9", "1 3 9"), "line 8: a word of a document occurs a second time"),
        ("<html>\n<body>404</body>\n</html>\n", "line 1: expected the number of documents"),
    ],
)
def test_a_broken_bag_of_words_names_the_line(file, content, message):
    with pytest.raises(SourceError) as raised:
        read_bag_of_words(file(content, "docword.kos.txt"))
    assert f"docword.kos.txt, {message}" in str(raised.value)
    assert "get it again" in str(raised.value)


@pytest.mark.parametrize("bad", [4, 5, 6, 9, 12, 23])
def test_the_line_is_right_in_every_block(file, monkeypatch, bad):
    monkeypatch.setattr(formats, "PARSED_AT_A_TIME", 15)  # five lines at a time
    lines = ["20", "1", "20", *(f"{k} 1 {k}" for k in range(1, 21))]
    assert read_bag_of_words(file("\n".join(lines))).sum() == 210
    lines[bad - 1] = "oops"
    with pytest.raises(SourceError, match=f"line {bad}: "):
        read_bag_of_words(file("\n".join(lines)))
    lines[bad - 1] = "21 1 1"
    with pytest.raises(SourceError, match=f"line {bad}: document 21 is not"):
        read_bag_of_words(file("\n".join(lines)))


@given(st.data())
def test_a_bag_of_words_survives_the_way_to_text_and_back(tmp_path_factory, data):
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n * m, max_size=n * m))).reshape(n, m)
    i, j = np.nonzero(counts)
    order = data.draw(st.permutations(range(len(i))))
    records = [f"{i[t] + 1} {j[t] + 1} {counts[i[t], j[t]]}" for t in order]
    path = tmp_path_factory.getbasetemp() / "bag"
    path.write_text("\n".join([str(n), str(m), str(len(i)), *records]))
    assert np.array_equal(read_bag_of_words(DataFile(path)).toarray(), counts)


# The NIPS 2003 challenge


def test_reads_sparse_rows_of_the_challenge(file):
    matrix = read_sparse_rows(file("3:5 1:999 \n\n4:1\n2:0 3:7 \n"), n_features=4)
    assert np.array_equal(matrix.toarray(), [[999, 0, 5, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 7, 0]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1:2 3", "expected pairs 'index:value', found '3'"),
        ("1:2 3:x 4:1", "expected pairs 'index:value', found '3:x 4:1'"),
        ("1:2:3 4", "expected pairs 'index:value', found '1:2:3 4'"),
        ("1:2 :4", "expected pairs 'index:value', found ':4'"),
        ("-1:2", "expected pairs 'index:value', found '-1:2'"),
        ("0:2", "index 0 is not between 1 and 4"),
        ("1:2 5:2", "index 5 is not between 1 and 4"),
        ("1:2 3:4 1:2", "an index occurs a second time"),
    ],
)
def test_broken_sparse_rows_name_the_line(file, line, message):
    with pytest.raises(SourceError, match=f"line 2: {message}"):
        read_sparse_rows(file(f"1:1\n{line}\n2:2\n"), n_features=4)


def test_reads_dense_rows_of_the_challenge(file, monkeypatch):
    X = np.random.default_rng(0).integers(0, 1000, (7, 5)) * (np.arange(5) % 2)
    text = "".join(" ".join(map(str, row)) + " \n" for row in X)
    for block in (5, 10, 10**6):
        monkeypatch.setattr(formats, "PARSED_AT_A_TIME", block)
        matrix = read_dense_rows(file(text), n_features=5)
        assert np.array_equal(matrix.toarray(), X)
        assert matrix.nnz == np.count_nonzero(X)


def test_an_empty_file_has_no_rows(file):
    assert read_dense_rows(file(""), n_features=5).shape == (0, 5)
    assert read_sparse_rows(file("\n\n"), n_features=5).shape == (0, 5)


@pytest.mark.parametrize("line", ["1 2", "1 2 3 4", "1 2 x", "1 2 3.5", ""])
def test_broken_dense_rows_name_the_line(file, line):
    with pytest.raises(SourceError, match="line 3: expected 3 whole numbers"):
        read_dense_rows(file(f"1 2 3\n4 5 6\n{line}\n7 8 9\n"), n_features=3)


# libsvm


def test_reads_libsvm_text_without_its_labels(file):
    matrix = read_libsvm(file("1 1:1 3:1\n-1 2:0.5 # an ad\n+1\n-1.0 4:-2e1 \n"), n_features=4)
    assert np.array_equal(matrix.toarray(), [[1, 0, 1, 0], [0, 0.5, 0, 0], [0, 0, 0, 0], [0, 0, 0, -20]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1:1 2:1", "expected a label, found '1:1 2:1'"),
        ("ham 1:1", "expected a label, found 'ham 1:1'"),
        ("", "expected a label, found ''"),
        ("1 qid:3 2:1", "expected pairs 'index:value', found 'qid:3 2:1'"),
        ("1 2:1.2.3", "expected pairs 'index:value', found '2:1.2.3'"),
        ("1 2:", "expected pairs 'index:value', found '2:'"),
        ("1 5:1", "index 5 is not between 1 and 4"),
        ("1 99999999999999999999:1", "index 100000000000000000000 is not between 1 and 4"),
    ],
)
def test_broken_libsvm_text_names_the_line(file, line, message):
    with pytest.raises(SourceError, match=f"line 2: {message}"):
        read_libsvm(file(f"1 1:1\n{line}\n1 1:1\n"), n_features=4)


# MovieLens

RATINGS = "3\t1\t5\t881250949\n1\t2\t3\t891717742\n1\t1\t1\t878887116\n"


def test_reads_ratings_in_the_order_of_users_and_movies(file):
    ratings = read_movielens(file(RATINGS), shape=(3, 2)).tocoo()
    assert ratings.shape == (3, 2)
    assert ratings.row.tolist() == [0, 0, 2]
    assert ratings.col.tolist() == [0, 1, 0]
    assert ratings.data.tolist() == [1.0, 3.0, 5.0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\t2\t3", "expected 'user movie rating time', found '1.*3'"),
        ("1::2::3::4", "expected 'user movie rating time', found '1::2::3::4'"),
        ("4\t2\t3\t0", "user 4 is not between 1 and 3"),
        ("1\t3\t3\t0", "movie 3 is not between 1 and 2"),
        ("1\t2\t6\t0", "rating 6 is not between 1 and 5"),
        ("3\t1\t5\t1", "a movie that the user has rated before occurs a second time"),
    ],
)
def test_broken_ratings_name_the_line(file, line, message):
    with pytest.raises(SourceError, match=f"line 2: {message}"):
        read_movielens(file(f"3\t1\t5\t0\n{line}\n"), shape=(3, 2))


# MNIST

PIXELS = np.array([[0, 255, 3, 0, 0, 9], [1, 0, 0, 0, 0, 0]], dtype=np.uint8)
IMAGES = struct.pack(">4i", 0x803, 2, 2, 3) + PIXELS.tobytes()


@pytest.mark.parametrize("content", [IMAGES, gzip.compress(IMAGES, mtime=0)])
def test_reads_images(file, content):
    matrix = read_idx_images(file(content))
    assert matrix.dtype == np.float64
    assert np.array_equal(matrix.toarray(), PIXELS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it has 0 bytes, which is less than the header of 16"),
        (IMAGES[:15], "it has 15 bytes"),
        (struct.pack(">2i", 0x801, 2) + bytes(20), "it begins with the number 0x00000801 and images with 0x00000803"),
        (IMAGES[:-1], "2 images of 2 x 3 pixels are announced and 11 pixels follow"),
        (IMAGES + b"\0", "2 images of 2 x 3 pixels are announced and 13 pixels follow"),
        (struct.pack(">4i", 0x803, -1, -1, 12) + bytes(12), "-1 images of -1 x 12 pixels"),
        (gzip.compress(IMAGES, mtime=0)[:-9], "it cannot be unpacked"),
    ],
)
def test_broken_images_are_reported(file, content, message):
    with pytest.raises(SourceError, match=message):
        read_idx_images(file(content))


# MATLAB


def test_reads_a_matrix_of_a_matlab_file(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"fea": scipy.sparse.csc_array(COUNTS.astype(float)), "gnd": [1, 2, 3]})
    matrix = read_matlab(DataFile(tmp_path / "a.mat"), variable="fea")
    assert np.array_equal(matrix.toarray(), COUNTS)


def test_a_broken_matlab_file_is_reported(tmp_path, file):
    scipy.io.savemat(tmp_path / "a.mat", {"gnd": np.arange(999)}, do_compression=True)
    with pytest.raises(SourceError, match=r"a\.mat: it has no variable 'fea'"):
        read_matlab(DataFile(tmp_path / "a.mat"), variable="fea")
    for content in (b"", b"nonsense" * 99, (tmp_path / "a.mat").read_bytes()[:200], b"MATLAB 7.3 MAT-file".ljust(600)):
        with pytest.raises(SourceError, match=r"b\.mat: it cannot be read as a MATLAB file"):
            read_matlab(file(content, "b.mat"), variable="gnd")


# Compact files


def test_reads_a_compact_matrix(tmp_path):
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array):
        scipy.sparse.save_npz(tmp_path / "a.npz", kind(COUNTS.astype(np.uint8)))
        assert np.array_equal(read_compact(DataFile(tmp_path / "a.npz")).toarray(), COUNTS)


def test_reads_a_dense_compact_matrix(tmp_path):
    np.savez(tmp_path / "a.npz", X=COUNTS)
    assert np.array_equal(read_compact(DataFile(tmp_path / "a.npz")), COUNTS)


def test_reads_a_compact_matrix_of_bits(tmp_path):
    matrix = np.random.default_rng(0).random((5, 11)) < 0.5
    bits = np.packbits(matrix, axis=1)
    np.savez(tmp_path / "a.npz", bits=bits, shape=[5, 11])
    assert np.array_equal(read_compact(DataFile(tmp_path / "a.npz")), matrix)
    for broken in ({"bits": bits.astype(int)}, {"bits": bits[1:]}, {"shape": [5, 17]}, {"shape": [5]}):
        np.savez(tmp_path / "a.npz", **({"bits": bits, "shape": [5, 11]} | broken))
        with pytest.raises(SourceError, match="it is not the compact file it should be"):
            read_compact(DataFile(tmp_path / "a.npz"))


def test_reads_compact_ratings(tmp_path):
    arrays = {"rows": np.uint16([2, 0]), "cols": np.uint16([1, 0]), "values": np.uint8([5, 1]), "shape": [3, 2]}
    for scale in ({}, {"scale": 0.5}):
        np.savez(tmp_path / "a.npz", **arrays, **scale)
        ratings = read_compact(DataFile(tmp_path / "a.npz")).tocoo()
        assert ratings.shape == (3, 2)
        assert (ratings.row.tolist(), ratings.col.tolist()) == ([0, 2], [0, 1])
        assert (ratings.data / scale.get("scale", 1)).tolist() == [1.0, 5.0]
    for broken in (
        {"cols": [2, 0]},
        {"cols": [0]},
        {"rows": [0, 0], "cols": [1, 1]},
        {"shape": [2, 3]},
        {"rows": [0.5]},
    ):
        np.savez(tmp_path / "a.npz", **(arrays | broken))
        with pytest.raises(SourceError, match="it is not the compact file it should be"):
            read_compact(DataFile(tmp_path / "a.npz"))


def test_a_broken_compact_file_is_reported(tmp_path):
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, scipy.sparse.csr_array(COUNTS))
    whole = path.read_bytes()
    outside = {"indices": [9], "indptr": [0, 1], "data": [1], "shape": [1, 2], "format": b"csr"}
    np.savez(tmp_path / "outside.npz", **outside)
    for content in (b"", b"nonsense", whole[:-30], whole[:99], (tmp_path / "outside.npz").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(SourceError, match=r"a\.npz: it is not the compact file it should be"):
            read_compact(DataFile(path))
