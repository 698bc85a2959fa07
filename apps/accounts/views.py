from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts import services
from apps.accounts.forms import PreferencesForm
from apps.accounts.models import User
from apps.accounts.sessions import as_user, known_user


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """How pages look and sound. Saving makes a guest of somebody unknown: there is nowhere else to keep it."""
    if request.method != "POST":
        return render(request, "accounts/settings.html", {"form": PreferencesForm(instance=known_user(request))})
    form = PreferencesForm(request.POST, instance=User())
    if not form.is_valid():
        return render(request, "accounts/settings.html", {"form": form}, status=400)
    with as_user(request) as user:
        services.change_preferences(user=user, **form.cleaned_data)
    return redirect(f"{request.path}?saved")
