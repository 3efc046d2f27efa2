"""Downloads: kept in a cache, compared with their checksum, and nothing left behind when one fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._support.extras import import_extra
from ..exceptions import MissingExtraError, SourceError
from .cards import Card, PublishedFile

__all__ = ["by_hand", "cache_folder", "download"]

TIMEOUT = 30  # seconds without an answer
TRANSFERRED_AT_A_TIME = 2**16  # bytes between two steps of the progress bar


def cache_folder() -> Path:
    """Where downloads are kept without ``data_home``."""
    return Path(_extra("pooch").os_cache("curplus"))


def download(card: Card, file: PublishedFile, folder: Path | None) -> Path:
    """Download a published file, or the archive it comes in, to a folder or else the cache, with a progress bar.

    Raises
    ------
    SourceError
        If it cannot be had, ends early, or is not the file it should be. The message has the address of the file, to
        get it by hand.
    MissingExtraError
        If pooch or tqdm is not installed.
    """
    try:
        pooch, requests, tqdm = _extra("pooch"), _extra("requests"), _extra("tqdm").tqdm
    except MissingExtraError as error:
        raise MissingExtraError(f"{error} {by_hand(card, file, folder)}") from error
    folder = cache_folder() if folder is None else folder
    name = file.download_name
    try:
        with _quiet(pooch):
            return Path(
                pooch.retrieve(file.url, file.checksum, name, folder, downloader=_transfer(requests, tqdm, name))
            )
    except (OSError, ValueError) as error:
        reason = f"{file.url}: {_reason(requests, error)}"
        raise SourceError(f"{name} could not be downloaded from {reason}. {by_hand(card, file, folder)}") from error


def by_hand(card: Card, file: PublishedFile | None, folder: Path | None) -> str:
    """What to do without a download."""
    what = f"{file.download_name} (or {card.compact})" if file else card.compact
    here = "" if folder is None else f"into {folder}, or "
    return (
        f"{card.title} is published at {card.published}: put {what} {here}into a folder that data_home= or the "
        "environment variable CURPLUS_DATA names."
    )


def _transfer(requests: Any, tqdm: Any, name: str) -> Callable[[str, str, Any], None]:
    """What pooch calls with an address and a temporary file, which it keeps only if all goes well."""

    def transfer(url: str, temporary: str, _: Any) -> None:
        headers = {"Accept-Encoding": "identity"}  # the file as it is published, and of the announced length
        with requests.get(url, stream=True, timeout=TIMEOUT, headers=headers) as response:
            response.raise_for_status()
            announced = 0 if "Content-Encoding" in response.headers else int(response.headers.get("Content-Length", 0))
            with (
                Path(temporary).open("wb") as stream,
                tqdm(desc=name, total=announced or None, unit="B", unit_scale=True) as bar,
            ):
                for chunk in response.iter_content(TRANSFERRED_AT_A_TIME):
                    stream.write(chunk)
                    bar.update(len(chunk))
            if bar.n < announced:
                raise requests.exceptions.ChunkedEncodingError

    return transfer


def _reason(requests: Any, error: Exception) -> str:
    if isinstance(error, requests.HTTPError):
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return f"the server did not answer within {TIMEOUT} seconds"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the transfer ended early"
    if isinstance(error, requests.ConnectionError):
        return f"there is no connection to the server ({type(error).__name__})"
    return str(error).rstrip(".")


@contextmanager
def _quiet(pooch: Any) -> Iterator[None]:
    """Keep pooch from reporting on standard error what the progress bar shows."""
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _extra(name: str) -> Any:
    return import_extra(name, extra="datasets", purpose=f"downloading needs {name}")
