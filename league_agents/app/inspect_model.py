"""The model that Inspect AI evaluates, behind the port of this project's agents.

Rule 1: every call goes through Inspect's ``generate``: its log, cache, limits and retries hold.
Rule 2: a failure of the service is kept, so that the sample fails: no figure of a model rests on code that replaced it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from anyio.from_thread import BlockingPortal
from anyio.to_thread import run_sync
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)

from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Finish, Patience, Rejected, Reply, Request
from league_agents.llm.port import Usage
from league_agents.llm.schema_in_words import SchemaInWords

if TYPE_CHECKING:
    from league_agents.llm.port import ChatModel

T = TypeVar("T")

_FINISHES = {"max_tokens": Finish.CUT_OFF, "model_length": Finish.CUT_OFF, "content_filter": Finish.REFUSED}


class InspectBackend:
    """``Backend`` on the model under evaluation; for threads beside the event loop that Inspect runs on."""

    def __init__(self, portal: BlockingPortal) -> None:
        """To be made in the solver: its context is the sample's."""
        self._portal = portal
        self._context = copy_context()
        self._model: Model = get_model()
        self.failure: Exception | None = None
        """The first failure; to be raised once the game is over."""

    @property
    def name(self) -> str:
        return f"inspect:{self._model.name}"

    def exchange(self, request: Request) -> Reply:
        try:
            # A thread has a context of its own, and the log's entries go to the sample of the context.
            output: ModelOutput = self._context.copy().run(self._portal.call, self._generate, request)
        except Exception as error:  # services raise what they like, and so do Inspect's limits
            self.failure = self.failure or error
            raise Rejected(f"{self.name}: {type(error).__name__}") from error
        used = output.usage
        return Reply(
            text=output.completion,
            finish=_FINISHES.get(output.stop_reason, Finish.COMPLETE),
            usage=Usage(
                input_tokens=0 if used is None else used.input_tokens,
                output_tokens=0 if used is None else used.output_tokens,
                requests=1,
            ),
            model=self.name,
            is_counted=used is not None,
        )

    async def _generate(self, request: Request) -> ModelOutput:
        said: list[ChatMessage] = [
            ChatMessageSystem(content=request.prompt.system),
            ChatMessageUser(content=request.prompt.user),
        ]
        if request.correction is not None:
            said += [
                ChatMessageAssistant(content=request.correction.reply),
                ChatMessageUser(content=request.correction.complaint),
            ]
        return await self._model.generate(said, config=GenerateConfig(max_tokens=request.max_output_tokens))


class InspectModels:
    """What the agents of one game ask."""

    def __init__(self, portal: BlockingPortal) -> None:
        self.backend = InspectBackend(portal)
        # Inspect repeats calls itself.
        patience = Patience(retries=0, timeout=timedelta(hours=1))
        self._chat = Chat(SchemaInWords(self.backend), patience)

    def for_callback(self, _callback: str) -> ChatModel:
        """The model under evaluation, whatever it is asked for."""
        return self._chat


async def beside_the_loop(play: Callable[[InspectModels], T]) -> T:
    """Run a game whose agents ask the model on a thread. Raises the first failure of a call after the game."""
    portal = BlockingPortal()
    async with portal:
        models = InspectModels(portal)
        try:
            found = await run_sync(play, models, abandon_on_cancel=True)
        finally:
            # A call that an agent gave up goes on in vain.
            await portal.stop(cancel_remaining=True)
    if models.backend.failure is not None:
        raise models.backend.failure
    return found
