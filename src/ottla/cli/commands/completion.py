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
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= prefix=
    # --name=value are three words in bash, and one in zsh.
    if [[ $before == "=" ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}
    elif [[ $word == "=" ]]; then
        word=
    elif [[ $word == --*=* ]]; then
        before=${{word%%=*}} word=${{word#*=}} prefix=$before=
    fi
    case "${{COMP_WORDS[1]-}} ${{COMP_WORDS[2]-}}" in
{cases}
        "help "*) [[ $COMP_CWORD -eq 2 ]] && words="{commands}" ;;
        *) [[ $COMP_CWORD -eq 1 ]] && words="{commands} help --help --version" ;;
    esac
    COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$word"))
    if [[ -n $prefix && -z $words ]]; then
        COMPREPLY=($(compgen -f -P "$prefix" -- "$word"))
    fi
}}
complete -o default -F _ottla ottla
"""
ZSH = (
    """\
(( $+functions[compdef] )) || {{ autoload -U +X compinit && compinit }}
autoload -U +X bashcompinit && bashcompinit
"""
    + BASH
)
FISH = """\
# Whether these are the first words of the line, and as many as there are with `only`.
function __ottla_at
    set -l words (commandline -opc)[2..]
    if test "$argv[1]" = only
        set -e argv[1]
        test (count $words) -eq (count $argv); or return 1
    end
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        contains -- $words[$i] (string split "|" -- $argv[$i]); or return 1
    end
end
complete -c ottla -f
"""
FILES = ("FILE", "DIR")


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
    lines = [
        fish_line("only", "-l help", "list the commands"),
        fish_line("only", "-l version", "show the installed version"),
        fish_line("only", "-a help", "describe a command"),
    ]
    for name, entry in COMMANDS.items():
        names = "|".join([name, *(alias for alias, known in ALIASES.items() if known == name)])
        summary = entry if isinstance(entry, str) else f"{', '.join(entry)} {name}"
        lines.append(fish_line("only", f"-a {name}", summary))
        lines.append(fish_line("only help", f"-a {name}", summary))
        verbs = {} if isinstance(entry, str) else entry
        for verb, about in verbs.items():
            lines.append(fish_line(f'only "{names}"', f"-a {verb}", about))
            lines.append(fish_line(f'only help "{names}"', f"-a {verb}", about))
        commands: list[tuple[str, ...]] = [(name, verb) for verb in verbs]
        for command in commands or [(name,)]:
            seen = " ".join([f'"{names}"', *command[1:]])
            lines += [
                fish_line(seen, fish_option(each), each.help_text)
                for each in options(command)
                if each.names or each.choices or each.value in FILES
            ]
    return FISH + "\n".join(lines) + "\n"


def fish_line(condition: str, what: str, description: str) -> str:
    quoted = description.replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c ottla -n '__ottla_at {condition}' {what} -d '{quoted}'"


def fish_option(option: CompletedOption) -> str:
    """The names, and what follows them: -x is a value, -r -F the name of a file."""
    names = " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
    )
    if option.choices:
        return f"{names} -x -a '{' '.join(option.choices)}'".strip()
    if not option.value:
        return names
    if option.value in FILES:
        return f"{names} -r -F" if names else "-F"
    return f"{names} -x"
