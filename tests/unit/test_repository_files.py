"""What hosts of repositories read: it parses, and names things that exist."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_has_what_the_format_requires() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["license"] in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_workflow_runs_the_whole_check() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "check.yaml").read_text("utf-8"))
    steps = [step.get("run") for job in workflow["jobs"].values() for step in job["steps"]]
    assert ".ci/run" in steps
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_the_forms_ask_for_something() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yaml"))
    assert len(forms) == 2
    for form in forms:
        fields = yaml.safe_load(form.read_text("utf-8"))["body"]
        assert any(field.get("validations", {}).get("required") for field in fields), form.name
