"""A real browser without a window, driven through a pipe by Chromium's own protocol; no other package is needed."""

import base64
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from select import select

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # the pages are our own, and containers have no user namespaces
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--remote-debugging-pipe",
)
#: The browser reads from descriptor 3 and writes to 4: this puts the pipes there, wherever they are.
LAUNCH = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
PATIENCE = 60  # seconds without a word


def find_browser():
    """The path of a browser; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a running browser, and what happened on it."""

    def __init__(self, to_browser, from_browser):
        self._to, self._from, self._rest, self._number = to_browser, from_browser, b"", 0
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    _session = None

    def call(self, method, **parameters):
        """What the browser answers."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _read(self):
        while b"\0" not in self._rest:
            assert select([self._from], [], [], PATIENCE)[0], "the browser does not answer"
            part = os.read(self._from, 2**16)
            assert part, "the browser ended"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, *, width=1280, height=900, theme="light"):
        """Show a file, as wide as a screen or a phone, in a light or dark theme, until all of it is loaded."""
        self.events.clear()
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        is_phone = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone
        )
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def run(self, script):
        """The value of an expression on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def addresses(self):
        """All that the page asked for."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def complaints(self):
        """Errors and warnings of the page, whoever wrote them."""
        kinds = (
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        )
        return [event["params"] for event in self.events if event.get("method") in kinds]

    def photograph(self, path, *, height=None):
        """Write a picture of the page, or of its upper part."""
        size = self.run("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": height or size[1], "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def pdf(self):
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])


@contextmanager
def browser(profile):
    """A browser that keeps its things in a folder of its own; it ends with the block."""
    (read_here, write_there), (read_there, write_here) = os.pipe(), os.pipe()
    flags = [*FLAGS, f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, str(read_there), str(write_there), find_browser(), *flags],
        pass_fds=(read_there, write_there),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_there), os.close(write_there)
    try:
        yield Browser(write_here, read_here)
    finally:
        os.close(write_here), os.close(read_here)  # it ends when nobody talks to it any more
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
