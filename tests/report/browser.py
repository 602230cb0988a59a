"""Drives Debian's Chromium headless by its debugging protocol: what a page logs, asks for, and looks like."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 60


def find() -> str | None:
    """The browser's program, None without one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One headless browser with one tab; ``messages`` and ``requests`` are those of the page shown."""

    def __init__(self, profile: Path):
        # The sandbox needs what containers and root don't give; only our own pages are opened.
        words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
        words += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        words += ["--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={profile}"]
        log = (profile / "log").open("w")
        self._process = subprocess.Popen(
            [find(), *words, "about:blank"], stdout=log, stderr=log, env={**os.environ, "HOME": str(profile)}
        )
        port = _wait(lambda: (profile / "DevToolsActivePort").read_text().split()[0])
        tabs = f"http://127.0.0.1:{port}/json/list"
        page = _wait(
            lambda: next(tab for tab in json.load(urllib.request.urlopen(tabs)) if tab["type"] == "page")
        )
        self._socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=_SECONDS)
        self._last = 0
        self.messages: list[str] = []
        self.requests: list[str] = []
        self._loaded = False
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters) -> dict:
        """One command; events that arrive meanwhile are noted."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._event(answer)

    def _event(self, event: dict) -> None:
        kind, about = event.get("method"), event.get("params", {})
        if kind == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif kind == "Page.loadEventFired":
            self._loaded = True
        elif kind == "Runtime.exceptionThrown":
            self.messages.append(str(about["exceptionDetails"]))
        elif kind == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.messages.append(str(about["args"]))
        elif kind == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.messages.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")

    def open(self, path: Path, width: int, height: int = 900, query: str = "") -> None:
        """Show a file at this width in CSS pixels, and wait for its load event."""
        self.resize(width, height)
        self.messages, self.requests, self._loaded = [], [], False
        self.call("Page.navigate", url=path.resolve().as_uri() + query)
        _wait(lambda: self._is_loaded() or None)

    def _is_loaded(self) -> bool:
        self.call("Runtime.evaluate", expression="0")  # takes in the events so far
        return self._loaded

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def dark(self, yes: bool) -> None:
        """Whether the reader prefers dark pages."""
        value = "dark" if yes else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def value(self, expression: str):
        """What a JavaScript expression gives; it must be plain data."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """A key on the element that has the focus."""
        about = {
            "key": key,
            "code": key,
            "windowsVirtualKeyCode": code,
            "text": "\r" if key == "Enter" else "",
        }
        self.call("Input.dispatchKeyEvent", type="keyDown", **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def screenshot(self, path: Path, width: int, most: int = 2400) -> None:
        """The page from its top, at most so many pixels."""
        self.resize(width, min(most, int(self.value("document.documentElement.scrollHeight"))))
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _wait(ask):
    """The first answer that is neither an error nor None."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        try:
            if (found := ask()) is not None:
                return found
        except (OSError, IndexError, StopIteration, ValueError):
            pass
        time.sleep(0.05)
    raise TimeoutError(f"the browser did not answer within {_SECONDS} s")
