"""How a record of the log is written: as a line for people, or as JSON for machines.

Whoever logs something about a table or a match says which (``extra={"table": code, "match": id}``), and nothing of
what is in it: no card, no seed, no name.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Any

FIELDS = ("table", "match", "move")


class Line(logging.Formatter):
    """``time LEVEL logger: message table=… match=…``."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's own name
        told = "".join(f" {name}={value}" for name, value in _fields(record).items())
        return super().formatMessage(record) + told


class Json(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **_fields(record),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
