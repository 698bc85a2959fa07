"""``{% json_ld data %}``: schema.org data as a block that is no script and needs no nonce."""

import json
from typing import Any, Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

ESCAPES: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


@register.simple_tag
def json_ld(data: dict[str, Any]) -> SafeString:
    """The data, escaped so that no text in it can end the block."""
    text = json.dumps(data, ensure_ascii=False).translate(ESCAPES)
    return format_html('<script type="application/ld+json">{}</script>', mark_safe(text))  # noqa: S308 - escaped above
