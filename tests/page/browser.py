# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Drives a headless Chromium through its debugging pipe, with nothing but Python's own library."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

PROGRAMS = ["chromium-headless-shell", "chromium"]


def program():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One browser with one page. What the page says on its console, and what it throws, is in `said`."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="attrcache-browser.")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def descriptors():
            # The browser reads from 3 and writes to 4. Either may be in the way of the other.
            read, write = os.dup(theirs_in), os.dup(theirs_out)
            while read < 10:
                read = os.dup(read)
            while write < 10:
                write = os.dup(write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [
                program(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-background-networking",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--force-color-profile=srgb",
                "--font-render-hinting=none",
                "--remote-debugging-pipe",
                "--user-data-dir=" + self.profile,
                "about:blank",
            ],
            close_fds=False,
            preexec_fn=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.reading, self.writing, self.rest, self.number = ours_in, ours_out, b"", 0
        self.said, self.requests, self.events = [], [], []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.writing)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reading)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.reading, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.said.append(
                "exception: " + details.get("exception", {}).get("description", details["text"])
            )
        elif method == "Runtime.consoleAPICalled":
            self.said.append(
                "console: " + " ".join(str(one.get("value")) for one in params["args"])
            )
        elif method == "Log.entryAdded":
            self.said.append("log: " + params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        if method:
            self.events.append(method)
        return message

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.writing, json.dumps(request).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def open(self, path):
        """Opens a file; returns the milliseconds until it was drawn."""
        self.events.clear()
        self.requests.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self.events:
            self.receive()
        return int(self.ask("document.documentElement.dataset.ready || '-1'"))

    def ask(self, expression):
        """The value of an expression in the page, as JSON gives it; a promise is awaited."""
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def settle(self):
        """Until what was asked for is drawn: two frames."""
        self.ask(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
        )

    def size(self, width, height, phone=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        self.settle()

    def media(self, scheme="light", kind=""):
        self.call(
            "Emulation.setEmulatedMedia",
            media=kind,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.settle()

    KEYS = {
        "Enter": (13, "\r"),
        "Tab": (9, ""),
        " ": (32, " "),
        "ArrowLeft": (37, ""),
        "ArrowRight": (39, ""),
        "Escape": (27, ""),
    }

    def key(self, name, shift=False):
        code, text = self.KEYS[name] if name in self.KEYS else (ord(name.upper()), name)
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                windowsVirtualKeyCode=code,
                modifiers=8 if shift else 0,
                **({"text": text} if text and kind == "keyDown" else {}),
            )
        self.settle()

    def write(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def place(self, selector):
        """The middle of an element, scrolled into view."""
        return self.ask(
            "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2]; })(document.querySelector(%s))"
            % json.dumps(selector)
        )

    def click(self, selector):
        x, y = self.place(selector)
        self.click_at(x, y)

    def click_at(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def drag(self, x, y, to_x, to_y):
        for kind, at in (
            ("mousePressed", (x, y)),
            ("mouseMoved", ((x + to_x) / 2, (y + to_y) / 2)),
            ("mouseMoved", (to_x, to_y)),
            ("mouseReleased", (to_x, to_y)),
        ):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1
            )
        self.settle()

    def wheel(self, x, y, delta, control=False):
        self.call(
            "Input.dispatchMouseEvent",
            type="mouseWheel",
            x=x,
            y=y,
            deltaX=0,
            deltaY=delta,
            modifiers=2 if control else 0,
        )
        self.settle()

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(
                base64.b64decode(
                    self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=False)[
                        "data"
                    ]
                )
            )
