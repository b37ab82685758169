"""Reads the mail of two projects, makes and deletes a third, and prints what it saw."""

import asyncio
import os

from gonebox import AsyncGonebox, Gonebox, GoneboxError, Project

name, key = os.environ["NAME"], os.environ.get("KEY") or None
gonebox = Gonebox(os.environ["URL"], key)
one, two = gonebox.project(f"{name}-one"), gonebox.project(f"{name}-two")
codes = [one.wait_for_code(to="shared@"), two.wait_for_code(to="shared@"), two.wait_for_code(to="other@")]
others = one.messages(to="other@")


async def make():
    fresh = await AsyncGonebox(gonebox.url, key).project(f"{name}-new")
    await fresh.inject(subject="injected", text="hello")
    is_project = bool(fresh.smtp.password) and one.smtp.password is None and one.smtp.username == f"{name}-one" and isinstance(one, Project)
    same = key is None or all(m.project == fresh.name for m in gonebox.messages(q="injected"))
    await fresh.destroy()
    try:
        await fresh.messages()
    except GoneboxError as error:
        return is_project, same, error.code
    return is_project, same, "there"


is_project, same, gone = asyncio.run(make())
print(*codes, len(others), str(is_project).lower(), str(same).lower(), gone)
