"""The command line that somebody typed, for reports that say how they were made."""

from __future__ import annotations

import shlex

import typer


def command_as_typed(context: typer.Context) -> str:
    """The command with the arguments and options that were given, quoted for a shell."""
    options, positional = [], []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        if parameter.param_type_name == "argument":
            positional.append(str(value))
        elif isinstance(value, bool):
            options.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            for given in value if isinstance(value, (list, tuple)) else [value]:
                options += [parameter.opts[0], str(given)]
    return f"{context.command_path} {shlex.join([*positional, *options])}".rstrip()
