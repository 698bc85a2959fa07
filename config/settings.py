"""Every difference between machines is an environment variable; README has the table of them."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP
from django.utils.translation import gettext_lazy as _

from config.environment import ENVIRONMENT as ENV
from config.environment import cache, channel_layer, database, kept_secret, key, origin, sqlite, writable_directory

BASE_DIR = Path(__file__).resolve().parent.parent

PRODUCTION = ENV.choice("ENVIRONMENT", ("development", "production")) == "production"
DEBUG = ENV.flag("DEBUG")
if PRODUCTION and DEBUG:
    raise ImproperlyConfigured("DEBUG=1 shows state to visitors and is refused in production.")

DATA_DIR = writable_directory(Path(ENV.text("DATA_DIR", str(BASE_DIR / "var"))).absolute(), "DATA_DIR")
"""The database of a small site, the generated secret and the collected static files."""

# Secrets, hosts and addresses. Production states them; elsewhere they suit one machine.
SECRET_KEY = ENV.text("SECRET_KEY")
SECRET_KEY_FALLBACKS = ENV.words("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = ENV.words("ALLOWED_HOSTS", ("localhost", ".localhost", "127.0.0.1", "[::1]"))
PUBLIC_URL = ENV.text("PUBLIC_URL").rstrip("/")
"""Where visitors find the site, without a slash at the end; empty for whatever address they asked for."""
DATABASE_URL = ENV.text("DATABASE_URL")
DATABASE_POOL_SIZE = ENV.whole("DATABASE_POOL_SIZE", 20, least=1)
REDIS_URL = ENV.text("REDIS_URL")
TRUST_PROXY = ENV.flag("TRUST_PROXY")
METRICS_TOKEN = ENV.text("METRICS_TOKEN")
HSTS_SECONDS = ENV.whole("HSTS_SECONDS", 365 * 24 * 3600)

if PRODUCTION:
    for name in ("SECRET_KEY", "ALLOWED_HOSTS", "PUBLIC_URL", "DATABASE_URL"):
        ENV.required(name)
    if "*" in ALLOWED_HOSTS:
        raise ImproperlyConfigured("ALLOWED_HOSTS must name the hosts in production, not *.")
    key(SECRET_KEY, "SECRET_KEY")
SECRET_KEY = SECRET_KEY or kept_secret(DATA_DIR / "secret-key")
if PUBLIC_URL:
    PUBLIC_URL = origin(PUBLIC_URL, "PUBLIC_URL", secure=PRODUCTION)
    CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sitemaps",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "apps.games",
    "apps.rulebook",
    "apps.accounts",
    "apps.tables",
    "config",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "config.static.StaticFilesMiddleware",
    # Before sessions: the language of a page is in its address, and a rules page never looks at the session.
    "django.middleware.locale.LocaleMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"

# A game brings its own templates, texts and pictures.
GAME_DIRS = sorted(path.parent for path in (BASE_DIR / "apps/games").glob("*/game.py") if path.parent.name != "kernel")

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates", *(folder / "templates" for folder in GAME_DIRS)],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.accounts.context_processors.visitor",
            ],
        },
    }
]

DATABASES = {
    "default": (
        database(DATABASE_URL, "DATABASE_URL", pool_size=DATABASE_POOL_SIZE)
        if DATABASE_URL
        else sqlite(DATA_DIR / "upcard.sqlite3")
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# One process needs nothing beside itself; several speak through Redis or Valkey.
CHANNEL_LAYERS: dict[str, Any] = {"default": channel_layer(REDIS_URL)}
CACHES: dict[str, Any] = {"default": cache(REDIS_URL)}

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("fr", _("French")), ("de", _("German")), ("ru", _("Russian"))]
LOCALE_PATHS = [BASE_DIR / "config/locale", *(folder / "locale" for folder in GAME_DIRS)]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static", *(folder / "static" for folder in GAME_DIRS if (folder / "static").is_dir())]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}
# Production serves what `collectstatic` gathered; elsewhere a change of a file is seen at once.
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = not PRODUCTION
WHITENOISE_MAX_AGE = 3600 if PRODUCTION else 0
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_MIMETYPES = {".wav": "audio/wav"}  # browsers are told not to guess

# Cookies and headers. A guest's session cookie is the key to their seat: it lasts, and scripts cannot read it.
SESSION_COOKIE_AGE = 365 * 24 * 3600
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = PRODUCTION
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600

X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked from inside, where nothing ends TLS
SECURE_HSTS_SECONDS = HSTS_SECONDS if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUST_PROXY else None
SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "connect-src": [CSP.SELF],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}
# A form of ours has a handful of short fields.
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200

# The table's clock: how long a CPU seems to think, in how many processes, with how many roll-outs
# a move at most, and how often due work is looked for.
CPU_PACE_SECONDS = ENV.number("CPU_PACE_SECONDS", 1.0)
CPU_PROCESSES = ENV.whole("CPU_PROCESSES", 1, least=1)
CPU_EFFORT = ENV.whole("CPU_EFFORT", 60, least=1)
CLOCK_TICK_SECONDS = ENV.number("CLOCK_TICK_SECONDS", 0.2, least=0.01)

# Who runs the site, as the law wants it shown; `check --deploy` asks for what is missing.
OPERATOR_NAME = ENV.text("OPERATOR_NAME")
OPERATOR_ADDRESS = ENV.text("OPERATOR_ADDRESS")
OPERATOR_EMAIL = ENV.text("OPERATOR_EMAIL")
OPERATOR_PHONE = ENV.text("OPERATOR_PHONE")
OPERATOR_REGISTER = ENV.text("OPERATOR_REGISTER")
PUBLICATION_DIRECTOR = ENV.text("PUBLICATION_DIRECTOR")
HOST_NAME_AND_ADDRESS = ENV.text("HOST_NAME_AND_ADDRESS")

# One line a record, to standard error. A refusal is at most a warning; nothing logs a table's state.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "config.logs.Line"}, "json": {"()": "config.logs.Json"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": ENV.choice("LOG_FORMAT", ("line", "json"))},
        "none": {"class": "logging.NullHandler"},
    },
    "root": {"handlers": ["stderr"], "level": ENV.choice("LOG_LEVEL", ("INFO", "DEBUG", "WARNING", "ERROR"))},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        # Missing pages and bad requests are the visitor's; only our own failures are worth a line.
        "django.request": {"level": "ERROR"},
        "django.security": {"handlers": ["none"], "level": "WARNING", "propagate": False},
        "daphne": {"level": "WARNING"},
        "asyncio": {"level": "WARNING"},
        "psycopg.pool": {"level": "CRITICAL"},  # repeats, every time it tries again, what the caller is told once
    },
}
