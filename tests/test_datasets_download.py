"""Downloads, against a server on this machine: what arrives is kept, and a failed transfer leaves nothing behind."""

import hashlib
import io
import socket
import sys
import threading
import zipfile
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from curplus import datasets
from curplus.datasets import CARDS, PublishedFile
from curplus.exceptions import MissingExtraError, SourceError

requests = pytest.importorskip("requests")
pytest.importorskip("pooch")
pytest.importorskip("tqdm")

BAG = b"2\n3\n3\n1 1 2\n1 3 1\n2 2 7\n"
COUNTS = np.array([[2, 0], [0, 7], [1, 0]])


class Shelf(BaseHTTPRequestHandler):
    """Serves ``server.files``; a name that ends in ``.short`` breaks off half way."""

    def do_GET(self):
        self.server.asked.append(self.path)
        name = self.path.removeprefix("/")
        content = self.server.files.get(name.removesuffix(".short"))
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if name.endswith(".short") else content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    """A server of the files in ``server.files`` that notes in ``server.asked`` what it was asked for."""
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        server.files, server.asked = {"docword.kos.txt.gz": BAG}, []
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty cache of downloads, and no folder of local data."""
    monkeypatch.delenv("CURPLUS_DATA", raising=False)
    folder = tmp_path / "cache"
    for module in ("download", "folders"):
        monkeypatch.setattr(f"curplus.datasets.{module}.cache_folder", lambda: folder)
    return folder


@pytest.fixture
def published(server, monkeypatch):
    """Factory: a small KOS, published on the server under the given name and checksum."""

    def publish(name="docword.kos.txt.gz", checksum=None, url=None):
        file = PublishedFile("docword.kos.txt.gz", url or f"{server.url}/{name}", checksum, n_rows=2)
        small = replace(CARDS["kos"], shape=(3, 2), nnz=3, total=10, files=(file,))
        monkeypatch.setitem(CARDS, "kos", small)

    return publish


def left_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file()) if folder.exists() else []


def test_a_download_is_kept_and_used_again(server, published, home, capfd):
    published(checksum=f"sha256:{hashlib.sha256(BAG).hexdigest()}")
    for _ in range(2):
        data = datasets.load("kos")
        assert np.array_equal(data.matrix.toarray(), COUNTS)
    assert server.asked == ["/docword.kos.txt.gz"]
    assert left_in(home) == ["docword.kos.txt.gz"]
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "docword.kos.txt.gz: 100%" in printed.err  # the progress bar
    assert "SHA256" not in printed.err


def test_a_download_without_a_known_checksum_is_silent_too(published, home, capfd):
    published()
    datasets.load("kos")
    assert "SHA256" not in capfd.readouterr().err


def test_data_home_is_where_downloads_go(published, home, tmp_path):
    published()
    datasets.load("kos", data_home=tmp_path / "mine" / "deep")
    assert left_in(tmp_path / "mine" / "deep") == ["docword.kos.txt.gz"]
    assert left_in(home) == []


def test_local_data_comes_before_a_download(server, published, home, tmp_path, monkeypatch):
    published()
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "docword.kos.txt").write_bytes(BAG)
    monkeypatch.setenv("CURPLUS_DATA", str(tmp_path / "local"))
    datasets.load("kos")
    datasets.load("kos", data_home=tmp_path / "local")
    assert server.asked == []


def test_an_archive_is_downloaded_once_for_all_its_files(server, home, monkeypatch):
    with zipfile.ZipFile(archive := io.BytesIO(), "w") as writer:
        for part in ("train", "valid", "test"):
            writer.writestr(f"DEXTER/dexter_{part}.data", "1:5 \n")
    server.files["dexter.zip"] = archive.getvalue()
    card = CARDS["dexter"]
    files = tuple(file._replace(url=f"{server.url}/dexter.zip", n_rows=1, total=5) for file in card.files)
    parse = partial(card.parse, n_features=4)
    monkeypatch.setitem(CARDS, "dexter", replace(card, shape=(4, 3), nnz=3, total=15, files=files, parse=parse))
    assert datasets.load("dexter").matrix.toarray()[0].tolist() == [5, 5, 5]
    assert server.asked == ["/dexter.zip"]
    assert [path.name for path in datasets.locate(CARDS["dexter"])] == ["dexter.zip"]


FAILURES = {
    "missing": ({"name": "elsewhere.gz"}, "the server answered 404"),
    "truncated": ({"name": "docword.kos.txt.gz.short"}, "the transfer ended early"),
    "another file": ({"checksum": "sha256:" + "0" * 64}, "does not match the known hash"),
}


@pytest.mark.parametrize(("options", "message"), FAILURES.values(), ids=FAILURES)
def test_a_failed_transfer_says_what_to_do_and_leaves_nothing_behind(published, home, options, message):
    published(**options)
    with pytest.raises(SourceError) as raised:
        datasets.load("kos")
    text = str(raised.value)
    assert message in text
    assert f"could not be downloaded from {CARDS['kos'].files[0].url}" in text
    assert "published at https://archive.ics.uci.edu/dataset/164/bag+of+words" in text
    assert f"(or kos.npz) into {home}" in text
    assert "data_home= or the environment variable CURPLUS_DATA" in text
    assert left_in(home) == []


class Short:
    """The response of a library that does not notice when a transfer ends early."""

    headers = {"Content-Length": "99"}  # noqa: RUF012

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        pass

    def raise_for_status(self):
        pass

    def iter_content(self, size):
        yield BAG


def timeout(*arguments, **options):
    raise requests.ReadTimeout


@pytest.mark.parametrize(
    ("get", "message"),
    [(lambda *a, **o: Short(), "the transfer ended early"), (timeout, "the server did not answer within 30 seconds")],
    ids=["short", "silent"],
)
def test_a_server_that_stops_answering_leaves_nothing_behind(published, home, monkeypatch, get, message):
    monkeypatch.setattr(requests, "get", get)
    published()
    with pytest.raises(SourceError, match=message):
        datasets.load("kos")
    assert left_in(home) == []


def test_an_interrupted_transfer_leaves_nothing_behind(published, home, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("tqdm.tqdm.update", interrupt)
    published()
    with pytest.raises(KeyboardInterrupt):
        datasets.load("kos")
    assert left_in(home) == []


def test_without_a_network_the_message_says_where_to_put_the_file(published, home):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/docword.kos.txt.gz"
    published(url=url)
    with pytest.raises(SourceError) as raised:
        datasets.load("kos")
    text = str(raised.value)
    assert f"docword.kos.txt.gz could not be downloaded from {url}: there is no connection to the server" in text
    assert f"put docword.kos.txt.gz (or kos.npz) into {home}, or into a folder that data_home=" in text
    assert left_in(home) == []


@pytest.mark.parametrize("content", [b"<html>Please sign in</html>", BAG[:-3], BAG[:-6] + b"2 2 8\n", b""])
def test_a_download_that_turns_out_to_be_wrong_is_removed(server, published, home, content):
    server.files["docword.kos.txt.gz"] = content
    published()
    with pytest.raises(SourceError, match=r"docword\.kos\.txt\.gz"):
        datasets.load("kos")
    assert left_in(home) == []
    server.files["docword.kos.txt.gz"] = BAG
    datasets.load("kos")


def test_a_local_file_that_is_wrong_is_reported_and_kept(published, home, tmp_path):
    published()
    (tmp_path / "docword.kos.txt").write_bytes(BAG[:-3])
    with pytest.raises(SourceError, match=r"docword\.kos\.txt, line 6"):
        datasets.load("kos", data_home=tmp_path)
    assert (tmp_path / "docword.kos.txt").exists()


@pytest.mark.parametrize("extra", ["pooch", "tqdm"])
@pytest.mark.parametrize("given", [True, False])
def test_names_the_extra_it_needs_and_the_file_it_lacks(published, monkeypatch, tmp_path, extra, given):
    monkeypatch.delenv("CURPLUS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    published()
    monkeypatch.setitem(sys.modules, extra, None)
    with pytest.raises(MissingExtraError) as raised:
        datasets.load("kos", data_home=tmp_path if given else None)
    assert f"downloading needs {extra}: pip install 'curplus[datasets]'" in str(raised.value)
    assert "put docword.kos.txt.gz (or kos.npz) into" in str(raised.value)


def test_local_data_needs_no_extra(published, monkeypatch, tmp_path):
    published()
    monkeypatch.setitem(sys.modules, "pooch", None)
    (tmp_path / "docword.kos.txt").write_bytes(BAG)
    monkeypatch.setenv("CURPLUS_DATA", str(tmp_path))
    assert datasets.load("kos").shape == (3, 2)
