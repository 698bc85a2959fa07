"""Static files without leaving the event loop."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async  # noqa: TID251  no ORM here
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise, which alone knows only synchronous requests and would move every page into a thread."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response)
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if self.is_async:
            return self._answer(request)
        return super().__call__(request)

    async def _answer(self, request: HttpRequest) -> HttpResponseBase:
        response = None
        if request.path_info.startswith(self.static_prefix):
            response = await sync_to_async(self._read, thread_sensitive=False)(request)
        return response or await self.get_response(request)

    def _read(self, request: HttpRequest) -> HttpResponse | None:
        """The whole file: ours are small, and one read piecemeal would visit a thread for every piece."""
        path = request.path_info
        found = self.find_file(path) if self.autorefresh else self.files.get(path)
        if found is None:
            return None
        streamed = self.serve(found, request)
        response = HttpResponse(streamed.getvalue(), status=streamed.status_code, headers=dict(streamed.items()))
        streamed.close()
        return response
