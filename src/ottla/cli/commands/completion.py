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
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
    case "${{COMP_WORDS[1]-}} ${{COMP_WORDS[2]-}}" in
{cases}
        "help "*) [[ $COMP_CWORD -eq 2 ]] && words="{commands}" ;;
        *) [[ $COMP_CWORD -eq 1 ]] && words="{commands} help --help --version" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _ottla ottla
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n" + BASH


class CompletedOption(NamedTuple):
    """An option, or a positional argument, which has no names."""

    names: tuple[str, ...]
    help_text: str
    choices: tuple[str, ...]
    value: str  # of the value: empty if the option has none, FILE or DIR for paths


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
            cases.append(bash_case(any_verb, options((name,))))
        else:
            cases += [
                bash_case("|".join(f'"{each} {verb}"' for each in names), options((name, verb)))
                for verb in entry
            ]
            cases.append(
                f'        {any_verb}) [[ $COMP_CWORD -eq 2 ]] && words="{" ".join(entry)}" ;;'
            )
    return template.format(cases="\n".join(cases), commands=" ".join(COMMANDS))


def bash_case(pattern: str, arguments: list[CompletedOption]) -> str:
    """Values that can be listed are offered after their option; other words that do not begin with
    a dash are files.
    """
    values = "".join(
        f'{"|".join(each.names)}) words="{" ".join(each.choices)}" ;; '
        for each in arguments
        if each.names and each.choices
    )
    positional = " ".join(word for each in arguments if not each.names for word in each.choices)
    names = " ".join(name for each in arguments for name in each.names)
    others = f'*) [[ $word == -* ]] && words="{names}" || words="{positional}" ;;'
    return f'        {pattern}) case "$before" in {values}{others} esac ;;'


def options(command: tuple[str, ...]) -> list[CompletedOption]:
    parser = argparse.ArgumentParser()
    import_module(module_of(command)).add_arguments(parser)
    return [
        CompletedOption(
            tuple(action.option_strings),
            (action.help or "").replace("%%", "%"),
            tuple(map(str, action.choices or ())),
            ""
            if action.nargs in (0, argparse.OPTIONAL)
            else str(action.metavar or action.dest.upper()),
        )
        for action in parser._actions
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
                fish_line(seen, fish_option(each), each.help_text)
                for each in options(command)
                if each.names or each.choices
            ]
    return "\n".join(lines) + "\n"


def fish_line(condition: str, what: str, description: str) -> str:
    quoted = description.replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c ottla -n '{condition}' {what} -d '{quoted}'"


def fish_option(option: CompletedOption) -> str:
    """The names, and what follows them: -x is a value, -r -F the name of a file."""
    names = " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
    )
    if option.choices:
        return f"{names} -x -a '{' '.join(option.choices)}'".strip()
    if not option.value:
        return names
    return f"{names} {'-r -F' if option.value in ('FILE', 'DIR') else '-x'}"
