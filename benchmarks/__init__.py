"""Speed, strength and long proofs: what ``scripts/bench`` and ``scripts/soak`` run."""
