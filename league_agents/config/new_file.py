"""A new league file for one role: the commented example, reduced to that role and filled in.

Rule: comments and the order of keys are the example's, so that what is explained is explained in one place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import msgspec

from league_agents.config.examples import LEAGUE_FILE, example_text
from league_agents.config.migrate import MISSING_ADDRESS

MISSING_WORD = "fill-in"


class FileQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Something that only the user knows."""

    key: str
    """Of the league file: ``roles.player.address``."""

    option: str
    """The option of ``config init`` that answers it: ``address``."""

    text: str
    """As a person is asked."""

    default: str = ""
    """Used where nobody answers; empty: the file says that it must still be filled in."""

    @property
    def placeholder(self) -> str:
        """What stands in the file until it is filled in."""
        return self.default or (MISSING_ADDRESS if self.option in ("address", "manager_email") else MISSING_WORD)


_MANAGER = FileQuestion(key="league.manager_email", option="manager_email", text="The league manager's address")


def questions_for(role: str) -> tuple[FileQuestion, ...]:
    """What a league file for ``role`` needs: referee, player or manager."""
    at = f"roles.{role}"
    address = FileQuestion(key=f"{at}.address", option="address", text="Your mailbox, as Gmail spells it")
    if role == "manager":
        return (
            address,
            FileQuestion(key="season.id", option="season_id", text="The season's id", default="SEASON-1"),
            FileQuestion(key="season.name", option="season_name", text="The season's name", default="Season 1"),
        )
    group = FileQuestion(key=f"{at}.group_id", option="group_id", text="Your group, as the league office spells it")
    agent = FileQuestion(
        key=f"{at}.agent",
        option="agent",
        text="Who plays (offline, llm, a2a:URL, module:Class, file.py:Class)",
        default="offline",
    )
    own = (
        (FileQuestion(key=f"{at}.id", option="id", text="Your referee's id in the league"),)
        if role == "referee"
        else ()
    )
    return (_MANAGER, address, *own, group, agent)


class NewFile(msgspec.Struct, frozen=True, kw_only=True):
    """A league file that was made from the example."""

    text: str
    to_do: tuple[str, ...]
    """Keys that the user must still fill in, as the file's own comments explain them."""


def new_league_file(role: str, answers: Mapping[str, str]) -> NewFile:
    """The example for ``role``, with ``answers`` by the options of :func:`questions_for`. Raises ``ConfigError`` for an
    answer that its key does not allow."""
    lines = _only_role(example_text(LEAGUE_FILE).splitlines(), role)
    lines[: lines.index("#")] = [f"# The league file of a {role}: who you are and how you play.  Look through it, then"]
    to_do: list[str] = []
    for question in questions_for(role):
        value = answers.get(question.option, "")
        if not value and not question.default:
            to_do.append(f"{question.key}: {question.text[0].lower()}{question.text[1:]}")
        check_answer(question, value or question.placeholder)
        _set(lines, question.key.split("."), value or question.placeholder)
    if role == "manager":
        to_do.append("season.teams: the teams that take part, instead of the three that stand there")
    return NewFile(text="\n".join(lines) + "\n", to_do=tuple(to_do))


def check_answer(question: FileQuestion, value: str) -> None:
    """Raises ``ConfigError`` where the league file would be refused with this answer."""
    from league_agents.config.league_keys import value_at

    value_at(question.key, value)


def _only_role(lines: Sequence[str], role: str) -> list[str]:
    """Without the other roles; what a manager needs is no comment any more."""
    kept: list[str] = []
    section, within = "", ""
    for line in lines:
        if top := re.match(r"(?:# )?(\w+):", line):
            section, within = top[1], ""
        if section == "roles" and (inner := re.match(r"  (?:# )?(\w+):\s*$", line)):
            within = inner[1]
        is_anothers = section == "roles" and within not in ("", role) and (not line or line.startswith("  "))
        is_season = role != "manager" and (
            line.startswith("# The season that") or (section == "season" and _is_of(line))
        )
        if is_anothers or is_season:
            continue
        kept.append(_shown(line, section, within) if role == "manager" else line)
    return kept


def _is_of(line: str) -> bool:
    """Whether a line of the season's section, all of which is a comment, is not yet the next section's introduction."""
    return line.startswith(("# season:", "#  ")) or not line


_OF_A_SEASON = re.compile(r"# (season:|  id:|  name:|  teams:|    - \{)")


def _shown(line: str, section: str, within: str) -> str:
    if within == "manager" and line.startswith("  # "):
        return "  " + line[4:]
    if section == "season" and _OF_A_SEASON.match(line):
        return line[2:]
    if section == "league":  # the manager's own address is the league's
        return re.sub(r"^  manager_email:", "  # manager_email:", re.sub(r"^  # (league_id:)", r"  \1", line))
    return line


def _set(lines: list[str], path: Sequence[str], value: str) -> None:
    """Put ``value`` at the key ``path``; a key of the example that is a comment becomes one that counts."""
    depth = 0
    for number, line in enumerate(lines):
        name = re.escape(path[depth])
        found = re.match(rf"{'  ' * depth}(?:# )?{name}:", line)
        if found is None:
            continue
        depth += 1
        if depth == len(path):
            remark = re.search(r"\s+#.*$", line[found.end() :])
            lines[number] = f"{'  ' * (depth - 1)}{path[-1]}: {_scalar(value)}{remark[0] if remark else ''}"
            return
    raise AssertionError(f"the example has no key {'.'.join(path)}")


def _scalar(value: str) -> str:
    """Plain where YAML reads it as this text, else in quotes; JSON's strings are YAML's."""
    is_plain = re.fullmatch(r"[A-Za-z][\w.@/+-]*(?::[A-Za-z]\w*)?|[A-Za-z][\w.-]*( [\w.-]+)*", value) is not None
    is_word = value.casefold() in {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
    return value if is_plain and not is_word else json.dumps(value, ensure_ascii=False)
