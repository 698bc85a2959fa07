"""The wire between a browser and the site, which a test may cut, or let die without a sign."""

import socket
import struct
from contextlib import suppress
from threading import Event, Lock, Thread

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: closed at once, as by a router that lost the connection."""


class Wire:
    """Forwards TCP connections to a port of this machine."""

    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)
        self._flowing = Event()
        self._flowing.set()
        self._whole = True
        self._ends: set[socket.socket] = set()
        self._lock = Lock()
        self._door = socket.create_server(("127.0.0.1", 0))
        Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._door.getsockname()[1]}"

    def cut(self) -> None:
        """Every connection breaks, and no new one comes about."""
        self._whole = False
        self._drop()

    def mend(self) -> None:
        self._whole = True
        self._flowing.set()

    def freeze(self) -> None:
        """Nothing arrives any more, in either direction, and nobody is told; it arrives once mended."""
        self._flowing.clear()

    def close(self) -> None:
        self._door.close()
        self._flowing.set()
        self._drop()

    def _drop(self) -> None:
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            self._reset(end)

    def _reset(self, end: socket.socket) -> None:
        with suppress(OSError):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            end.shutdown(socket.SHUT_RDWR)
        end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _address = self._door.accept()
                self._join(near)

    def _join(self, near: socket.socket) -> None:
        if not self._whole:
            self._reset(near)
            return
        try:
            far = socket.create_connection(self._to)
        except OSError:
            self._reset(near)
            return
        with self._lock:
            self._ends |= {near, far}
        for source, sink in ((near, far), (far, near)):
            Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
