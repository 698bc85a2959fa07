"""The two kinds of form a table's page has: ``{% moveform json %}…{% endmoveform %}`` and ``{% doform "start" %}…``.

They carry what the page protocol asks for (design: the page is the protocol), so that a client that
knows no rules can play by choosing forms.
"""

from django import template
from django.template import Context, NodeList
from django.template.base import FilterExpression, Node, Parser, Token
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


class FormNode(Node):
    """A block that wraps its contents in a form."""

    child_nodelists = ("nodelist",)

    def __init__(self, nodelist: NodeList, argument: FilterExpression) -> None:
        self.nodelist = nodelist
        self.argument = argument

    def render(self, context: Context) -> SafeString:
        opening = self.opening(context, str(self.argument.resolve(context)))
        return format_html("{}{}{}</form>", opening, _csrf(context), self.nodelist.render(context))

    def opening(self, context: Context, argument: str) -> SafeString:
        raise NotImplementedError


class MoveFormNode(FormNode):
    def opening(self, context: Context, argument: str) -> SafeString:
        return format_html(
            '<form data-move method="post" action="{}move/" ws-send>'
            '<input type="hidden" name="move" value="{}"><input type="hidden" name="version" value="{}">',
            context["table"]["url"],
            argument,
            context["decision"],
        )


class DoFormNode(FormNode):
    def opening(self, context: Context, argument: str) -> SafeString:
        return format_html(
            '<form data-do="{}" method="post" action="{}{}/">', argument, context["table"]["url"], argument
        )


def _csrf(context: Context) -> SafeString:
    """The token where there is a request; the page's script adds it to forms that came by socket."""
    token = context.get("csrf_token")
    if not token or token == "NOTPROVIDED":  # noqa: S105 - Django's own placeholder
        return SafeString()
    return format_html('<input type="hidden" name="csrfmiddlewaretoken" value="{}">', token)


@register.tag
def moveform(parser: Parser, token: Token) -> MoveFormNode:
    """A form that makes one move, given as JSON."""
    return MoveFormNode(*_parse(parser, token, "endmoveform"))


@register.tag
def doform(parser: Parser, token: Token) -> DoFormNode:
    """A form that does something else to the table: sit, start, leave …"""
    return DoFormNode(*_parse(parser, token, "enddoform"))


def _parse(parser: Parser, token: Token, end: str) -> tuple[NodeList, FilterExpression]:
    parts = token.split_contents()
    if len(parts) != 2:
        raise template.TemplateSyntaxError(f"{parts[0]} takes exactly one argument")
    nodelist = parser.parse((end,))
    parser.delete_first_token()
    return nodelist, parser.compile_filter(parts[1])
