"""Agents elsewhere that speak A2A (Agent2Agent): they take seats here, and an agent of this program serves others.

Rule 1: what another agent writes is untrusted: its card, its replies and their sizes are checked before they are used,
and nothing that it writes reaches a prompt or a page except through the readers of every other agent's replies.
Rule 2: a credential is sent to the server that it is for and to no other, and never over plain http to another machine.
"""
