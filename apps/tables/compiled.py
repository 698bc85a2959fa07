"""Django templates compiled to Python functions, one for each language.

The markup has one source, the template; only walking its tree anew for every fragment is saved. Text
and whatever a language alone decides (``translate``, ``url`` without arguments) become constants. Tags
this does not know are rendered by Django itself, so that a template may use anything.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from html import escape as escape_text
from typing import Any, Final

from django.template import Context, Node, NodeList
from django.template.base import (
    FilterExpression,
    TextNode,
    Variable,
    VariableNode,
    render_value_in_context,
)
from django.template.defaulttags import (
    CommentNode,
    ForNode,
    IfNode,
    LoadNode,
    PartialDefNode,
    PartialNode,
    TemplateLiteral,
    URLNode,
)
from django.template.library import SimpleNode
from django.template.loader import get_template
from django.template.loader_tags import IncludeNode
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.urls import reverse
from django.utils import translation
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeData, SafeString, mark_safe

from apps.tables.templatetags.table_forms import FormNode

type Values = dict[str, Any]
type Fragment = Callable[[Values], str]

INDENT: Final = "    "
COMPARISONS: Final = frozenset({"in", "not in", "is", "is not", "==", "!=", ">", ">=", "<", "<="})


class _Missing:
    """What a name that is not there stands for: nothing to show, None to a condition."""

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()


def render(name: str, values: Mapping[str, Any]) -> str:
    """The template ``name`` (``page.html#part``) in the active language. Same bytes as Django's own."""
    return compiled(name, translation.get_language() or "")(dict(values))


@cache
def compiled(name: str, language: str) -> Fragment:
    """The function for one template; ``language`` is the active one and part of what it was made from."""
    template: Any = get_template(name)
    return _Compiler(template.template).function(template.template.nodelist)


class _Compiler:
    """Writes one function. ``c`` holds the values, ``a`` takes the next piece of output."""

    def __init__(self, template: Any) -> None:
        self._template = template
        self._lines: list[str] = []
        self._text: list[str] = []
        self._depth = 1
        self._names: Values = {"get": _get, "out": _out, "seen": _seen, "MISSING": MISSING}

    def function(self, nodelist: NodeList) -> Fragment:
        self._nodes(nodelist)
        self._flush()
        source = "\n".join(["def fragment(c):", f"{INDENT}o = []", f"{INDENT}a = o.append", *self._lines])
        exec(compile(f"{source}\n{INDENT}return ''.join(o)", "<template>", "exec"), self._names)  # noqa: S102 - our own text
        fragment: Fragment = self._names["fragment"]
        return fragment

    # ── writing ──

    def _line(self, text: str) -> None:
        self._flush()
        self._lines.append(INDENT * self._depth + text)

    def _constant(self, text: str) -> None:
        self._text.append(text)

    def _flush(self) -> None:
        if self._text:
            text = "".join(self._text)
            self._text = []
            self._lines.append(f"{INDENT * self._depth}a({text!r})")

    def _name(self, value: object) -> str:
        """A name by which the function knows an object."""
        name = f"k{len(self._names)}"
        self._names[name] = value
        return name

    def _block(self, header: str, nodes: Iterable[Node]) -> None:
        self._line(header)
        self._depth += 1
        self._nodes(nodes)
        self._line("pass")
        self._depth -= 1

    # ── nodes ──

    def _nodes(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._node(node)

    def _node(self, node: Any) -> None:
        match node:
            case TextNode():
                self._constant(node.s)
            case VariableNode():
                self._line(f"a(out({self._expression(node.filter_expression)}))")
            case IfNode():
                self._if(node)
            case ForNode():
                self._for(node)
            case IncludeNode() if not node.isolated_context:
                self._include(node)
            case PartialDefNode():
                self._nodes(node.nodelist if node.inline else ())
            case PartialNode():
                self._nodes(node.partial_mapping[node.partial_name].nodelist)
            case LoadNode() | CommentNode():
                pass
            case FormNode():
                self._form(node)
            case _:
                self._tag(node)

    def _tag(self, node: Any) -> None:
        match node:
            case TranslateNode() if node.asvar is None and not node.filter_expression.filters:
                self._constant(self._by_django(node, {}))
            case BlockTranslateNode() if node.asvar is None:
                self._blocktranslate(node)
            case URLNode() if not (node.args or node.kwargs or node.asvar or node.view_name.is_var):
                self._constant(escape(reverse(node.view_name.var)))
            case SimpleNode() if node.target_var is None:
                self._simple(node)
            case _:
                self._line(f"a({self._name(self._by_django)}({self._name(node)}, c))")

    def _by_django(self, node: Node, values: Values) -> str:
        context = Context(values)
        with context.bind_template(self._template):
            return str(node.render_annotated(context))

    def _if(self, node: Any) -> None:
        word = "if"
        for condition, nodelist in node.conditions_nodelists:
            header = "else:" if condition is None else f"{word} {self._condition(condition)}:"
            self._block(header, nodelist)
            word = "elif"

    def _condition(self, condition: Any) -> str:
        if type(condition) is TemplateLiteral:
            expression: Any = condition.value
            return f"seen({self._expression(expression)})"
        if condition.id == "not":
            return f"(not {self._condition(condition.first)})"
        if condition.id in {"and", "or"} | COMPARISONS:
            return f"({self._condition(condition.first)} {condition.id} {self._condition(condition.second)})"
        raise NotImplementedError(condition.id)

    def _for(self, node: Any) -> None:
        """A loop; ``forloop`` is there only where the loop's template names it."""
        items, kept = f"s{len(self._lines)}", f"r{len(self._lines)}"
        self._line(f"{items} = seen({self._expression(node.sequence)}) or ()")
        if node.is_reversed:
            self._line(f"{items} = tuple({items})[::-1]")
        names = [*node.loopvars, "forloop"]
        self._line(f"{kept} = [c.get(n, MISSING) for n in {names!r}]")
        targets = ", ".join(f"c[{name!r}]" for name in node.loopvars)
        counted = f"{self._name(_counted)}({items}, c.get('forloop'))"
        if _names_forloop(node.nodelist_loop):
            self._block(f"for c['forloop'], ({targets}) in {counted}:", node.nodelist_loop)
        else:
            self._block(f"for {targets} in {items}:", node.nodelist_loop)
        self._line(f"{self._name(_restore)}(c, {names!r}, {kept})")
        if node.nodelist_empty:
            self._block(f"if not {items}:", node.nodelist_empty)

    def _include(self, node: Any) -> None:
        names = list(node.extra_context)
        kept = f"r{len(self._lines)}"
        if names:
            values = ", ".join(f"out_of({self._expression(value)})" for value in node.extra_context.values())
            self._names["out_of"] = _plain
            self._line(f"{kept} = [c.get(n, MISSING) for n in {names!r}]")
            self._line(f"c.update(zip({names!r}, ({values},)))")
        template = self._expression(node.template)
        self._line(f"a({self._name(_included)}({template}, c))")
        if names:
            self._line(f"{self._name(_restore)}(c, {names!r}, {kept})")

    def _form(self, node: FormNode) -> None:
        self._line(f"a({self._name(node.opening)}(c, str({self._expression(node.argument)})))")
        self._nodes(node.nodelist)
        self._constant("</form>")

    def _simple(self, node: Any) -> None:
        arguments = ["c"] if node.takes_context else []
        arguments += [f"{self._name(_plain)}({self._expression(each)})" for each in node.args]
        arguments += [f"{key}={self._name(_plain)}({self._expression(each)})" for key, each in node.kwargs.items()]
        self._line(f"a({self._name(conditional_escape)}({self._name(node.func)}({', '.join(arguments)})))")

    def _blocktranslate(self, node: Any) -> None:
        """The message is looked up once; a counted one for each count, which alone decides its form."""
        extra = {name: self._expression(value) for name, value in node.extra_context.items()}
        singular, names = node.render_token_list(node.singular)
        context = node.message_context.resolve(Context()) if node.message_context else None
        if node.plural and node.countervar and node.counter:
            plural, more = node.render_token_list(node.plural)
            names = list(dict.fromkeys([*names, *more]))
            extra[node.countervar] = self._expression(node.counter)
            text = f"{self._name(_counter_of(singular, plural, context))}({extra[node.countervar]})"
        else:
            message = translation.pgettext(context, singular) if context else translation.gettext(singular)
            text = repr(str(message))
        fields = ", ".join(f"{name!r}: out({extra.get(name) or self._lookup(name)})" for name in names)
        self._line(f"a({text} % {{{fields}}})")

    # ── expressions ──

    def _expression(self, expression: FilterExpression) -> str:
        """Python for the value of a template expression, MISSING where there is none."""
        value = self._variable(expression.var) if expression.is_var else self._name(expression.var)
        for function, arguments in expression.filters:
            given = [self._variable(arg) if lookup else self._name(mark_safe(arg)) for lookup, arg in arguments]  # noqa: S308 - template text
            value = f"{self._name(_filter)}({self._name(function)}, {value}, {', '.join(given)})"
        return value

    def _variable(self, variable: Variable) -> str:
        if variable.lookups is None:
            literal = variable.resolve(Context())
            return repr(literal) if type(literal) in {int, float} else self._name(literal)
        if variable.lookups in (("True",), ("False",), ("None",)):
            return str(variable.lookups[0])
        if variable.translate:
            return self._name(variable.resolve(Context()))
        return self._lookup(*variable.lookups)

    def _lookup(self, first: str, *rest: str) -> str:
        value = f"c.get({first!r}, MISSING)"
        for name in rest:
            value = f"get({value}, {name!r})"
        return value


# ── what the functions call ────────────────────────────────────────────────────


def _get(value: Any, name: str) -> Any:
    """A dictionary's item, an attribute, or an item by number; what can be called is called."""
    try:
        found = value[name] if type(value) is dict else getattr(value, name)
    except (KeyError, AttributeError):
        return _get_otherwise(value, name)
    return found() if callable(found) and not getattr(found, "do_not_call_in_templates", False) else found


def _get_otherwise(value: Any, name: str) -> Any:
    try:
        found = value[int(name)] if name.isdigit() else getattr(value, name)
    except (KeyError, AttributeError, TypeError, IndexError):
        return MISSING
    return found() if callable(found) else found


_PLAIN_CONTEXT = Context()


def _out(value: Any) -> str:
    """A value as it stands in a page."""
    kind = type(value)
    if kind is SafeString:
        return value
    if kind is str:
        return escape_text(value)
    if kind is int and -1000 < value < 1000:
        return str(value)
    return "" if value is MISSING else render_value_in_context(value, _PLAIN_CONTEXT)


def _plain(value: Any) -> Any:
    """A value handed on; what is missing is an empty string."""
    return "" if value is MISSING else value


def _seen(value: Any) -> Any:
    """A value in a condition; what is missing is None."""
    return None if value is MISSING else value


def _filter(function: Any, value: Any, *arguments: Any) -> Any:
    value = _plain(value)
    extra = {"autoescape": True} if getattr(function, "needs_autoescape", False) else {}
    result = function(value, *map(_plain, arguments), **extra)
    if getattr(function, "is_safe", False) and isinstance(value, SafeData):
        return mark_safe(result)  # noqa: S308 - as the filter promises
    return result


def _included(name: Any, values: Values) -> str:
    return compiled(str(name), translation.get_language() or "")(values)


def _restore(values: Values, names: Iterable[str], kept: Iterable[Any]) -> None:
    """Put back what a loop or an include had covered."""
    for name, value in zip(names, kept, strict=True):
        if value is MISSING:
            values.pop(name, None)
        else:
            values[name] = value


def _counted(items: Iterable[Any], parent: Any) -> Iterable[tuple[Values, Any]]:
    """Each item with the loop's counters, as Django names them."""
    everything = list(items)
    last = len(everything) - 1
    for number, item in enumerate(everything):
        yield (
            {
                "parentloop": parent or {},
                "length": last + 1,
                "counter": number + 1,
                "counter0": number,
                "revcounter": last - number + 1,
                "revcounter0": last - number,
                "first": number == 0,
                "last": number == last,
            },
            item,
        )


def _names_forloop(nodes: Iterable[Any]) -> bool:
    """Whether anything below speaks of ``forloop``; an include may."""
    for node in nodes:
        if isinstance(node, IncludeNode) or "forloop" in str(getattr(node, "filter_expression", "")):
            return True
        if any("forloop" in str(value) for value in vars(node).values() if not isinstance(value, NodeList)):
            return True
        if any(_names_forloop(getattr(node, name, ()) or ()) for name in node.child_nodelists):
            return True
    return False


def _counter_of(singular: str, plural: str, context: str | None) -> Callable[[Any], str]:
    language = translation.get_language()

    @cache
    def text(count: int) -> str:
        with translation.override(language):
            if context:
                return translation.npgettext(context, singular, plural, count)
            return translation.ngettext(singular, plural, count)

    return text
