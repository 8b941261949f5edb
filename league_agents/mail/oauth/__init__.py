"""The authorization to use one Gmail account: obtain, store, check and revoke it.

Rule 1: a token is written atomically, readable by its owner only. No part of it or of the client secret appears in a
message, a representation or a log.
Rule 2: if only a person can help, the error is ``AuthorizationExpired`` and names the command to run.
Rule 3: Google's libraries are imported by the functions that need them.
"""

from league_agents.mail.oauth.authorization import Authorization
from league_agents.mail.oauth.client_secret import load_client_secret
from league_agents.mail.oauth.login import login, login_pasted, logout
from league_agents.mail.oauth.token import (
    LOGIN_COMMAND,
    SCOPES,
    TESTING_LIFETIME,
    Token,
    TokenStatus,
    load_token,
    missing_scopes,
    save_token,
    token_status,
    wider_mode,
)

__all__ = [
    "LOGIN_COMMAND",
    "SCOPES",
    "TESTING_LIFETIME",
    "Authorization",
    "Token",
    "TokenStatus",
    "load_client_secret",
    "load_token",
    "login",
    "login_pasted",
    "logout",
    "missing_scopes",
    "save_token",
    "token_status",
    "wider_mode",
]
