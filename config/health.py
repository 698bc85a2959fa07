"""Whether this process can serve people, for whatever watches over it."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the database answers, 503 while it does not."""
    healthy = _database_answers()
    return HttpResponse(
        "ok" if healthy else "no database",
        status=200 if healthy else 503,
        content_type="text/plain",
        headers={"Cache-Control": "no-store"},
    )


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True
