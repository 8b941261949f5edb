"""The thin edge around the machines: fetch, commit, call, send, acknowledge last."""
