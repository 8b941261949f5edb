"""The machine and the agent of a role, as configured in a league file.

Rule: a role's private seed is drawn once and stored in its journal: ids derived from it must be the same after every
restart.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from league_agents.app.agents import SCRIPTED, AgentRole, ChosenAgent, choose_agent
from league_agents.app.journals import SEED, journals_of, open_journal, state_in
from league_agents.app.live_mailbox import SharedByMailboxes
from league_agents.app.outages import Outages
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.port import StoredJournal
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.knowledge.corpus import default_index_path
from league_agents.league.machines.config import PlayerConfig, RefereeConfig
from league_agents.league.machines.events import Identity
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.manager.config import ManagerConfig
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.player.player import PlayerMachine
from league_agents.league.machines.referee.referee import Referee
from league_agents.league.season.divisions import deciding
from league_agents.league.season.tie_breaks import usual_tie_breaks

if TYPE_CHECKING:
    from league_agents.app.models import Models


def journal_and_machine(
    settings: LeagueSettings, role: RoleSettings, outages: Outages, shared: SharedByMailboxes | None = None
) -> tuple[StoredJournal, Machine[Any], ChosenAgent | None]:
    """Open a role's journal, and make its machine and its agent.

    Raises ``ConfigError`` and ``JournalError``.
    """
    machines: list[Machine[Any]] = []
    journal = open_journal(role, lambda name, part: machines[0].dump_part(name, part), is_to_work=True)
    try:
        seed = journal.kept(SEED)
        if not isinstance(seed, str):
            seed = secrets.token_hex(16)
            journal.keep(SEED, seed)
        machines.append(machine_of(settings, role, seed))
        state_in(role, machines[0], journal.load_parts())
        agent = None if role.role == "manager" else agent_of(settings, role, seed, outages, shared)
    except BaseException:
        journal.close()
        raise
    return journal, machines[0], agent


def agent_of(
    settings: LeagueSettings,
    role: RoleSettings,
    seed: str,
    outages: Outages | None = None,
    shared: SharedByMailboxes | None = None,
) -> ChosenAgent:
    """The agent of a referee or player; ``outages`` is told of its models. Raises ``ConfigError``."""
    spec = SCRIPTED if settings.is_demo else role.agent
    kind: AgentRole = "referee" if role.role == "referee" else "player"

    def models() -> Models:
        from league_agents.app.models import Books, chat_models

        books = Books(league=settings.league_id, scope=f"{role.role} {role.address}", journals=journals_of(role))
        if outages is None:
            return chat_models(settings.models, role=role.role, books=books)
        return chat_models(
            settings.models,
            role=role.role,
            books=books,
            shared=None if shared is None else shared.backends,
            watched=outages.watched,
            called=outages.called,
        )

    return choose_agent(
        spec,
        kind,
        rules=settings.rules,
        seed=seed,
        index_path=default_index_path,
        models=models,
        in_process=settings.in_process,
    )


def machine_of(settings: LeagueSettings, role: RoleSettings, seed: str) -> Machine[Any]:
    """The machine of a role. Raises ``ConfigError``."""
    me = Identity(
        email=role.address,
        participant_id=role.participant_id,
        group_id=role.group_id,
        display_name=role.display_name,
        seed=seed,
    )
    if role.role == "manager":
        return Manager(config=manager_config(settings, role, me))
    if role.role == "player":
        return PlayerMachine(
            config=PlayerConfig(identity=me, manager_email=settings.manager_email, rules=settings.rules)
        )
    return Referee(
        config=RefereeConfig(
            identity=me,
            manager_email=settings.manager_email,
            rules=settings.rules,
            actual_opening_sentence=role.opening_sentence,
            actual_associative_word=role.associative_word,
            assignment_table_id=role.assignment_table_id,
            avoid_not_relevant=role.avoid_not_relevant,
        )
    )


def manager_config(settings: LeagueSettings, role: RoleSettings, me: Identity) -> ManagerConfig:
    """The league manager's configuration. Raises ``ConfigError`` that names the key."""
    season = settings.season
    if season is None:
        raise ConfigError(f"{settings.path}.season", "is missing: a league manager needs a season with its teams")
    tie_breaks = season.tie_breaks
    if role.division is not None:
        tie_breaks = deciding(tie_breaks or usual_tie_breaks(season.schedule_kind), role.division.promoted)
    try:
        config = ManagerConfig(
            identity=evolve(me, display_name="League office"),
            season_id=season.season_id,
            season_name=season.name,
            league_id=settings.league_id,
            season_number=season.number,
            teams=role.teams,
            rules=settings.rules,
            schedule_kind=season.schedule_kind,
            rounds=season.rounds,
            games_at_once=season.games_at_once,
            tie_breaks=tie_breaks,
            lot_seed=season.lot_seed,
            is_automatic=season.is_automatic,
            results_broadcast=season.results_broadcast,
            lookup_table=season.lookup_table,
            core_only=frozenset(season.core_only),
        )
        waits: dict[str, Any] = dict(season.waits)
        return evolve(config, **waits)
    except ConfigError as error:
        message = str(error).removeprefix(f"{error.path}: ")
        is_divided = error.path == "teams" and role.division is not None
        raise ConfigError(f"{role.where if is_divided else f'{settings.path}.season'}.{error.path}", message) from None
