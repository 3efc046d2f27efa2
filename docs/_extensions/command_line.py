"""The reference of the command line, made from the commands themselves."""

from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from curplus.cli.main import EXIT_CODES, app


def commands(command, *before):
    """Every command that does something, with the words that lead to it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(before), command
        return
    for name, part in inner.items():
        yield from commands(part, *before, name)


def described(name, command):
    """A command as text: what it does, its arguments and its options."""
    shown = [p for p in command.params if p.name != "help"]
    arguments = [p for p in shown if p.param_type_name == "argument"]
    options = [p for p in shown if p.param_type_name == "option"]
    usage = " ".join(["curplus", name, *(_usage(p) for p in arguments), "[OPTIONS]" if options else ""])
    yield from (f".. _curplus-{name.replace(' ', '-')}:", "", f"``{usage.strip()}``", "-" * (len(usage) + 4), "")
    yield from (_escaped(command.help or ""), "")
    for p in arguments:
        yield from (f"``{p.metavar or p.name.upper()}``", f"   {_escaped(p.help or '')}")
    for p in options:
        yield from (f"``{_spelled(p)}``", f"   {_escaped(p.help or '')}{_default(p)}")
    yield ""


def _usage(argument):
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _spelled(option):
    names = "/".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {option.name.upper().replace('_', '-')}"


def _default(option):
    if option.default in (None, False) or callable(option.default) or option.is_flag:
        return ""
    return f" By default {getattr(option.default, 'value', option.default)}."


def _escaped(text):
    return " ".join(text.split()).replace("*", "\\*").replace("|", "\\|")


class CommandLine(SphinxDirective):
    """``.. command-line::``, without arguments."""

    def run(self):
        lines = [line for name, command in commands(get_command(app)) for line in described(name, command)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class ExitCodes(SphinxDirective):
    """``.. exit-codes::``, without arguments."""

    def run(self):
        return self.parse_text_to_nodes("\n".join(f"{code}\n   {text}" for code, text in EXIT_CODES.items()))


def setup(app):
    app.add_directive("command-line", CommandLine)
    app.add_directive("exit-codes", ExitCodes)
    return {"parallel_read_safe": True}
