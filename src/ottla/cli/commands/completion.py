"""`ottla completion`: print a script that completes commands and options in a shell."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import NamedTuple

from ottla.cli.command_table import ALIASES, COMMANDS, module_of

EPILOG = """\
examples:
  bash:  source <(ottla completion bash)          in ~/.bashrc
  zsh:   source <(ottla completion zsh)           in ~/.zshrc, after compinit
  fish:  ottla completion fish | source           in ~/.config/fish/config.fish
"""
BASH = """\
_ottla() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=
    case "${{COMP_WORDS[1]-}} ${{COMP_WORDS[2]-}}" in
{cases}
        *) [[ $COMP_CWORD -eq 1 ]] && words="{commands}" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _ottla ottla
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n" + BASH


class CompletedOption(NamedTuple):
    names: tuple[str, ...]
    help_text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"])


def run(arguments: argparse.Namespace) -> int:
    scripts = {
        "bash": lambda: bash_script(BASH),
        "zsh": lambda: bash_script(ZSH),
        "fish": fish_script,
    }
    sys.stdout.write(scripts[arguments.shell]())
    return 0


def bash_script(template: str) -> str:
    cases = []
    for name, entry in COMMANDS.items():
        names = [name, *(alias for alias, known in ALIASES.items() if known == name)]
        any_verb = "|".join(f'"{each} "*' for each in names)
        if isinstance(entry, str):
            cases.append(bash_case(any_verb, option_names((name,))))
        else:
            cases += [
                bash_case(
                    "|".join(f'"{each} {verb}"' for each in names), option_names((name, verb))
                )
                for verb in entry
            ]
            cases.append(
                f'        {any_verb}) [[ $COMP_CWORD -eq 2 ]] && words="{" ".join(entry)}" ;;'
            )
    return template.format(cases="\n".join(cases), commands=" ".join(COMMANDS))


def bash_case(pattern: str, names: list[str]) -> str:
    """Options are offered for a word that begins with a dash; others are files or values."""
    return f'        {pattern}) [[ $word == -* ]] && words="{" ".join(names)}" ;;'


def option_names(command: tuple[str, ...]) -> list[str]:
    return [name for option in options(command) for name in option.names]


def options(command: tuple[str, ...]) -> list[CompletedOption]:
    parser = argparse.ArgumentParser()
    import_module(module_of(command)).add_arguments(parser)
    return [
        CompletedOption(tuple(action.option_strings), (action.help or "").replace("%%", "%"))
        for action in parser._actions
        if action.option_strings
    ]


def fish_script() -> str:
    lines = ["complete -c ottla -f"]
    for name, entry in COMMANDS.items():
        summary = entry if isinstance(entry, str) else f"{', '.join(entry)} {name}"
        lines.append(fish_line("__fish_use_subcommand", f"-a {name}", summary))
        verbs = {} if isinstance(entry, str) else entry
        for verb, about in verbs.items():
            seen = f"__fish_seen_subcommand_from {name}; and not __fish_seen_subcommand_from"
            lines.append(fish_line(f"{seen} {' '.join(verbs)}", f"-a {verb}", about))
        commands: list[tuple[str, ...]] = [(name, verb) for verb in verbs]
        for command in commands or [(name,)]:
            seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command)
            lines += [
                fish_line(seen, fish_names(each.names), each.help_text) for each in options(command)
            ]
    return "\n".join(lines) + "\n"


def fish_line(condition: str, what: str, description: str) -> str:
    quoted = description.replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c ottla -n '{condition}' {what} -d '{quoted}'"


def fish_names(names: tuple[str, ...]) -> str:
    return " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in names
    )
