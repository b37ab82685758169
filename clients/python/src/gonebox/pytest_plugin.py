"""Fixtures for pytest: a service for the session, a mailbox for each test."""

from __future__ import annotations

import os
import secrets
from typing import Iterator

import pytest

from ._client import Gonebox, Mailbox, Project
from ._http import GoneboxError
from .service import Service, start_service


@pytest.fixture(scope="session")
def gonebox_service() -> Iterator[Service]:
    """The service that GONEBOX_URL names, else one of the session's own."""
    service = start_service()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def gonebox(gonebox_service: Service) -> Gonebox:
    """The client of that service, with the key in GONEBOX_KEY if there is one."""
    return Gonebox(gonebox_service.url, os.environ.get("GONEBOX_KEY"))


@pytest.fixture(scope="session")
def project(gonebox: Gonebox) -> Iterator[Project]:
    """A project of the session's own, and with pytest-xdist of the worker's, deleted at its end: what an application sends while it is signed in with
    `project.smtp` is the worker's alone."""
    project = gonebox.project(f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}-{secrets.token_hex(4)}")
    yield project
    project.destroy()


@pytest.fixture
def mailbox(gonebox: Gonebox) -> Iterator[Mailbox]:
    """A fresh mailbox, destroyed after the test."""
    mailbox = gonebox.create_mailbox()
    yield mailbox
    try:
        mailbox.destroy()
    except GoneboxError:
        pass  # it may have ended in the test
