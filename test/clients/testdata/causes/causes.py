"""Waits for what each case says, all at once, and prints what the error of each says."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from gonebox import Gonebox, GoneboxError


def wait(case):
    account = case["account"]
    gonebox = Gonebox(case["url"], case["credential"] if account else None)
    source = gonebox if account else gonebox.open_mailbox(case["credential"])
    options = {name + "_" if name == "from" else name: value for name, value in case["options"].items()}
    try:
        getattr(source, "wait_for_" + case["for"])(**options, timeout=5)
    except GoneboxError as error:
        causes = [cause.code for cause in error.diagnosis.causes] if error.diagnosis else []
        return {"name": case["name"], "code": error.code, "message": str(error), "causes": causes}
    return {"name": case["name"], "code": "found"}


cases = json.load(sys.stdin)
with ThreadPoolExecutor(len(cases)) as pool:
    print(json.dumps(list(pool.map(wait, cases))))
