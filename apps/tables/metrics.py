"""What there is to count about tables. `/metrics` tells it to Prometheus (config.watching)."""

from prometheus_client import Counter, Gauge, Histogram

_MILLISECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)

MOVES = Counter("upcard_moves", "Moves made durable, by whose hand", ["made_by"])
REFUSALS = Counter("upcard_refusals", "Refusals told, by code of the page protocol", ["code"])
BATCH = Histogram("upcard_batch_moves", "Moves written in one transaction", buckets=(1, 2, 4, 8, 16, 32, 64))
JOURNAL = Histogram("upcard_journal_seconds", "From the decision of a move to its being durable", buckets=_MILLISECONDS)
RESYNCS = Counter("upcard_resyncs", "Pages that asked for everything again")
VIEWERS = Gauge("upcard_viewers", "Open pages of tables", multiprocess_mode="livesum")
HEALED = Counter("upcard_healed", "Tables found behind the database: a message between processes was lost")
LAYER_FAILURES = Counter(
    "upcard_layer_failures", "Messages that the channel layer did not take: over-capacity or unreachable", ["kind"]
)
CLOCK_LAG = Histogram(
    "upcard_clock_lag_seconds", "How late the clock did what was due", buckets=(0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
)
