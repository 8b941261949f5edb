"""A Gmail account as a mailbox.

Rule: ``transport`` is the only module that imports Google's libraries, and it is imported when the first call is made.
"""

from league_agents.mail.gmail.mailbox import SELF_TEST_PATIENCE, GmailMailbox, GmailProfile, SelfTest

__all__ = ["SELF_TEST_PATIENCE", "GmailMailbox", "GmailProfile", "SelfTest"]
