"""Makes fault rules, or says what they did, and prints what it saw."""

import asyncio
import os
from datetime import datetime, timedelta

from gonebox import AsyncGonebox, Gonebox, GoneboxError

name, key = os.environ["NAME"], os.environ.get("KEY") or None
gonebox = Gonebox(os.environ["URL"], key)
project = gonebox.project(name)


def show(*values):
    print(*({True: "true", False: "false", None: "null"}.get(v, v) if v is None or isinstance(v, bool) else v for v in values))


def code(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except GoneboxError as error:
        return error.code
    return "none"


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


if os.environ["PHASE"] == "add":
    rule = project.faults.add("rcpt", reply="451 4.3.2 Try again later", to="admin@*", times=1, delay=0.3, for_=600)
    wide = gonebox.faults.add("message", reply="552 Too large", from_=f"*@{name}.example", project=name, every=2, per_minute=9, probability=0.5, seed=42, close=True)
    every, own = [r.id for r in gonebox.faults.list()], [r.id for r in project.faults.list()]
    other = gonebox.project(f"{name}-other").faults.list()
    ends = (moment(rule.ends_at) - moment(rule.created_at)).total_seconds()
    show(rule.project == name, rule.stage, rule.reply, rule.to, rule.times, rule.delay, rule.hits, int(ends), rule.from_, rule.close)
    show(wide.stage, wide.from_ == f"*@{name}.example", wide.every, wide.per_minute, wide.probability, wide.seed, wide.close, wide.ends_at)
    show(rule.id in every and wide.id in every, own == [rule.id, wide.id], len(other), code(gonebox.faults.add, "rcpt"))
else:
    rule, wide = project.faults.list()
    refused = project.transcripts()[0]
    reply = next(line.text for line in refused.lines if line.from_ == "server" and line.text.startswith("451"))
    later, all_of_them = len(project.transcripts(since=moment(refused.at) + timedelta(seconds=1))), len(project.transcripts(since="2000-01-01T00:00:00Z", limit=1))
    show(rule.hits, wide.hits, len(project.transcripts()), later, all_of_them, reply, ",".join(refused.to), refused.refused)
    everywhere = gonebox.transcripts()
    dialog = project.transcript(project.messages()[0].id)
    show(any(t.at == refused.at and t.project == name for t in everywhere), dialog.refused, ",".join(dialog.to))

    async def remove():
        service = AsyncGonebox(gonebox.url, key)
        async_project = await service.project(name)
        await async_project.faults.delete(rule.id)
        show(len(await async_project.faults.list()), code(project.faults.delete, rule.id))
        elsewhere = await service.faults.add("rcpt", delay=1, to=f"{name}@sink.example")
        await async_project.faults.delete()
        show(len(await async_project.faults.list()), any(r.id == elsewhere.id for r in await service.faults.list()))
        assert len(await async_project.transcripts(limit=1)) == 1 and await service.transcripts(since="2100-01-01T00:00:00Z") == []

    asyncio.run(remove())
    gonebox.faults.delete()
    show(len(gonebox.faults.list()))
