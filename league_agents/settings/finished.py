"""Whether a league file that can be read is also filled in, and fits the journals that are there.

Rule: a file that a person has not finished is refused before anything is made by it. A journal belongs to the address
of its first start for ever, and so would to one that nobody has.
"""

from __future__ import annotations

from collections.abc import Iterator

from league_agents.errors import ConfigError
from league_agents.journal.sqlite import SqliteJournal
from league_agents.protocol.league.address import same_address
from league_agents.settings.league_settings import LeagueSettings, RoleSettings
from league_agents.settings.migrate import MISSING_ADDRESS

EXAMPLE_ADDRESSES = (MISSING_ADDRESS, "falcons.referee@gmail.com", "falcons.player@gmail.com")
"""What the importer writes for an address that it does not know, and the invented mailboxes of the example file."""

_OWN = "write your own mailbox there, spelled exactly as Gmail shows it"
_OFFICE = "write the address of the league office there"
_TEAM = "write the team's own mailbox there"


def refuse_unfinished(settings: LeagueSettings) -> None:
    """Raises ``ConfigError`` that names the first key which a person must still fill in."""
    for key, address, remedy in _addresses(settings):
        if any(same_address(address, example) for example in EXAMPLE_ADDRESSES):
            raise ConfigError(f"{settings.path}.{key}", f"still says the example's address {address}; {remedy}")
    for role in settings.roles:
        if role.role == "player" and not role.group_id:
            raise ConfigError(
                f"{settings.path}.roles.{role.role}.group_id",
                "is empty; write the name of your group there, as the league office spells it",
            )


def _addresses(settings: LeagueSettings) -> Iterator[tuple[str, str, str]]:
    """Key, address, and what to write instead."""
    for role in settings.roles:
        yield f"roles.{role.role}.address", role.address, _OWN
    yield "league.manager_email", settings.manager_email, _OFFICE
    if settings.season is not None:
        for place, team in enumerate(settings.season.teams):
            yield f"season.teams[{place}].player", team.player_email, _TEAM
            yield f"season.teams[{place}].referee", team.referee_email, _TEAM


def refuse_journal_of_others(settings: LeagueSettings, role: RoleSettings) -> bool:
    """Whether the role has a journal already. Raises ``ConfigError`` for one of another role or address, and
    ``JournalError`` for one that cannot be read."""
    if not role.journal.exists():
        return False
    journal = SqliteJournal.to_look_at(role.journal)
    try:
        owner = journal.owner
    finally:
        journal.close()
    if owner != (role.role, role.address.lower()):
        raise ConfigError(
            f"{settings.path}.roles.{role.role}.journal",
            f"{role.journal} is the journal of {owner[0]} {owner[1]}, not of {role.role} {role.address};"
            " name another file, or delete this one if nothing was played in it",
        )
    return True
