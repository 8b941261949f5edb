"""The labels of one mailbox: Gmail's own, whose ids are their names, and the user's, whose ids are numbered."""

from __future__ import annotations

from collections.abc import Iterable

from league_agents.sandbox.refusal import SandboxRefusal, invalid, not_found
from league_agents.sandbox.search import search_name
from league_agents.sandbox.state import SandboxState

SYSTEM = (
    *("INBOX", "SENT", "UNREAD", "IMPORTANT", "STARRED", "SPAM", "TRASH", "DRAFT", "CHAT"),
    *("CATEGORY_PERSONAL", "CATEGORY_SOCIAL", "CATEGORY_PROMOTIONS", "CATEGORY_UPDATES", "CATEGORY_FORUMS"),
)
FIXED = frozenset({"SENT", "DRAFT", "CHAT"})
"""Labels that only Gmail itself adds and removes."""

MOST_LABELS = 10_000
MOST_PER_CALL = 100
LONGEST_NAME = 225


class Labels:
    """Label ids and names."""

    def __init__(self, address: str, state: SandboxState) -> None:
        self._address = address
        self._state = state
        self._names: dict[str, str] = {}
        self._made = 0
        for key, name in state.load("label").items():
            owner, _, label_id = key.rpartition("/")
            if owner == address:
                self._names[label_id] = str(name)
                self._made = max(self._made, int(label_id.removeprefix("Label_")))

    def ids(self) -> list[str]:
        """All ids, Gmail's own first."""
        return [*SYSTEM, *self._names]

    def name_of(self, label_id: str) -> str:
        """The name of a label. Raises ``SandboxRefusal`` (404)."""
        if label_id in SYSTEM:
            return label_id
        if label_id not in self._names:
            raise not_found()
        return self._names[label_id]

    def is_system(self, label_id: str) -> bool:
        return label_id in SYSTEM

    def make(self, name: object) -> str:
        """Create a label and return its id. Raises ``SandboxRefusal``."""
        name = self._checked(name)
        if len(self._names) >= MOST_LABELS:
            raise invalid("Label limit reached")
        self._made += 1
        label_id = f"Label_{self._made}"
        self._keep(label_id, name)
        return label_id

    def rename(self, label_id: str, name: object) -> None:
        """Rename a label of the user's. Raises ``SandboxRefusal``."""
        if self.name_of(label_id) != name:
            self._refuse_system(label_id)
            self._keep(label_id, self._checked(name))

    def remove(self, label_id: str) -> None:
        """Delete a label of the user's. Raises ``SandboxRefusal``."""
        self.name_of(label_id)
        self._refuse_system(label_id)
        del self._names[label_id]
        self._state.drop("label", f"{self._address}/{label_id}")

    def find(self, wanted: str) -> str | None:
        """The id of a label by its search name, in lower case; ``None`` if there is none."""
        for label_id in self.ids():
            if search_name(self.name_of(label_id)) == search_name(wanted):
                return label_id
        return None

    def check_change(self, added: Iterable[str], removed: Iterable[str]) -> None:
        """Raises ``SandboxRefusal`` when these labels cannot be added or removed."""
        added, removed = list(added), list(removed)
        if not added and not removed:
            raise invalid("No label add or removes specified")
        if max(len(added), len(removed)) > MOST_PER_CALL:
            raise invalid(f"Too many labels: at most {MOST_PER_CALL}")
        for label_id in (*added, *removed):
            if label_id in FIXED or not (label_id in SYSTEM or label_id in self._names):
                raise invalid(f"Invalid label: {label_id[:80]}")
        if set(added) & set(removed):
            raise invalid("Cannot both add and remove the same label")

    def _refuse_system(self, label_id: str) -> None:
        if label_id in SYSTEM:
            raise invalid("Invalid label name")

    def _checked(self, name: object) -> str:
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise invalid("Invalid label name")
        if search_name(name) in {search_name(self.name_of(label_id)) for label_id in self.ids()}:
            raise SandboxRefusal(409, "aborted", "Label name exists or conflicts")
        return name

    def _keep(self, label_id: str, name: str) -> None:
        self._names[label_id] = name
        self._state.put("label", f"{self._address}/{label_id}", name)
