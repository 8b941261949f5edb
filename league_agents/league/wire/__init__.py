"""The league mail protocol, ``league.v2`` and ``Q21G.v1``: reads every deployed form, sends the canonical one."""
